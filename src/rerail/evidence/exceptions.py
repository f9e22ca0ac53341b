"""An exception made `Evidence`: every exception of its chain reduced to facts.

Nothing of the live objects is kept: no exception, no traceback, no frame. No SDK is imported, no property of a foreign object is
run except ``status_code``, and nothing is fetched; ``str()`` of an exception may raise or be huge.
"""

from __future__ import annotations

from rerail.evidence import notes
from rerail.evidence.clip import as_stream, clip_stream, in_order
from rerail.evidence.command import command_of, program_of
from rerail.evidence.exception_chain import unfold
from rerail.evidence.exception_traits import traits_of
from rerail.evidence.fields import distinct_codes, label
from rerail.evidence.foreign import is_a, mro_of, names_of, own_values
from rerail.evidence.json_facts import facts_of_text
from rerail.evidence.lazy import compiled
from rerail.evidence.messages import MESSAGE_CAPS, codes_in, joined_messages
from rerail.evidence.model import Evidence, ExceptionFact, Link, Source, Stream, StreamName
from rerail.evidence.process import ending
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.evidence.exception_traits import Traits

_MAX_TYPES = 32
_MAX_NOTES = 20

_SPENT_TYPE = (
    r"(?:\A|\.)\w*(?:Retry(?:Error|Exhausted)|Retr(?:y|ies)(?:Limit)?(?:Exceeded|Exhausted)|TooManyRetries)\w*\Z"
)
_SPENT_TEXT = (
    r"(?i)max(?:imum)?[ _]retr(?:y|ies)|retr(?:y|ies) (?:limit )?(?:exceeded|exhausted)|giving up after"
    r"|(?:after|all) [0-9]{1,4} (?:attempts|retries|tries)"
)


def from_exception(error: BaseException, *, tool: str = "", command: str | Sequence[str] = ()) -> Evidence:
    """Return the evidence that *error* is.

    Args:
        error: What was raised; it is left as it is.
        tool: The tool that was called, if one was.
        command: What was run, if something was; otherwise what the exception itself says was run.
    """
    chain, clipped = unfold(error)
    facts: list[ExceptionFact] = []
    traits: list[Traits] = []
    messages: list[Stream] = []
    for link, one in chain:
        trait = traits_of(one)
        message = clip_stream(StreamName.MESSAGE, _text_of(one), caps=MESSAGE_CAPS)
        codes = distinct_codes(trait.codes + codes_in(message))
        facts.append(ExceptionFact(link, _type_names(type(one)), message.text, trait.status, codes, trait.errno))
        traits.append(trait)
        messages.append(message)

    ran: str | Sequence[object] = command or next((trait.process.command for trait in traits if trait.process), ())
    argv = command_of(ran) if ran else ()
    evidence = Evidence(
        Source.EXCEPTION,
        command=argv,
        tool=label(tool) if tool else program_of(argv),
        exceptions=tuple(facts),
        streams=in_order(message=messages[0]),
        notes=_notes(facts, traits, clipped=clipped),
    )
    # PERF: most exceptions are alone and carry nothing; looking for what they lack would take as long again.
    is_plain = len(facts) == 1 and not facts[0].codes and not any(traits[0][1:])
    return evidence if is_plain else _with_details(evidence, traits, messages)


def _with_details(evidence: Evidence, traits: Sequence[Traits], messages: Sequence[Stream]) -> Evidence:
    """Return *evidence* with what its exceptions carry: status, headers, codes, body, process."""
    process = next((trait.process for trait in traits if trait.process), None)
    exit_code, signal = ending(process.exit_code if process else None)
    answers = _answers(evidence.exceptions, traits)
    body = next((trait.body for trait in answers if trait.body), None)
    return evidence._replace(
        exit_code=exit_code,
        signal=signal,
        http_status=next((trait.status for trait in answers if trait.status), None),
        headers=next((trait.headers for trait in answers if trait.headers), ()),
        codes=distinct_codes([code for fact in evidence.exceptions for code in fact.codes]),
        streams=in_order(
            message=joined_messages(messages, facts_of_text(body, is_error=True).messages if body else ()),
            stderr=as_stream(StreamName.STDERR, process.stderr) if process else None,
            body=as_stream(StreamName.BODY, body) if body else None,
            stdout=as_stream(StreamName.STDOUT, process.stdout) if process else None,
        ),
    )


def _text_of(error: BaseException) -> str:
    """Return what *error* says, with its notes; guarded, for both are foreign code."""
    try:
        # A subclass of str may have methods of its own.
        text = str.__str__(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001  foreign code; see `answer_of`
        text = f"<{names_of(type(error))[1]} whose str() raised {names_of(type(failure))[1]}>"
    added = own_values(error).get("__notes__")
    if type(added) is list:
        lines = [str.__str__(note) for note in added[:_MAX_NOTES] if is_a(note, str)]
        text = "\n".join(filter(None, (text, *lines)))
    return text


def _type_names(cls: type[BaseException]) -> tuple[str, ...]:
    """Return the names along the MRO as a traceback shows them: without the module where that is builtins or __main__."""
    names: list[str] = []
    for base in mro_of(cls)[:-1][:_MAX_TYPES]:
        module, name = names_of(base)
        if module not in ("builtins", "__main__", ""):
            name = f"{module}.{name}"
        names.append(name if name.isprintable() and len(name) <= 200 else label(name, 200))
    return tuple(names)


def _answers(facts: Sequence[ExceptionFact], traits: Sequence[Traits]) -> list[Traits]:
    """Return the traits to take the HTTP answer from, the innermost cause first.

    Contexts and members come in only where the chain of causes has no answer: an exception raised while another was handled (a
    fallback that failed too) is not explained by that other one. Members that disagree on the status say nothing about the whole.
    """
    depth = next((n for n, fact in enumerate(facts) if fact.link in (Link.CONTEXT, Link.MEMBER)), len(facts))
    causes = [trait for trait in reversed(traits[:depth]) if trait.status or trait.headers or trait.body]
    if causes:
        return causes
    others = [trait for trait in traits[depth:] if trait.status or trait.headers or trait.body]
    return others if len({trait.status for trait in others if trait.status}) <= 1 else []


def _notes(facts: Sequence[ExceptionFact], traits: Sequence[Traits], *, clipped: bool) -> tuple[str, ...]:
    found: list[str] = []
    retries = max([trait.inner_retries for trait in traits])
    if retries > 0:
        found.append(f"{notes.RETRIES_SPENT}: {retries}")
    elif any(map(_says_spent, facts)):
        found.append(notes.RETRIES_SPENT)
    if any(trait.process and trait.process.timed_out for trait in traits):
        found.append(notes.TIMED_OUT)
    if any(trait.body_unread for trait in traits) and not any(trait.body for trait in traits):
        found.append(notes.BODY_UNREAD)
    if clipped:
        found.append(notes.CHAIN_CLIPPED)
    return tuple(found)


def _says_spent(fact: ExceptionFact) -> bool:
    """Return whether a layer below says that it tried again and gave up."""
    # PERF: the patterns need one of these pieces of "retry", "attempts", "giving up" and "tries".
    if "Retr" in fact.types[0] and compiled(_SPENT_TYPE).search(fact.types[0]):
        return True
    text = fact.message
    if "etr" in text or "ttempts" in text or "iving up" in text or " tries" in text:
        return compiled(_SPENT_TEXT).search(text, 0, MESSAGE_CAPS.line_chars) is not None
    return False
