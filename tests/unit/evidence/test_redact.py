"""Secrets go; what names the failure stays.

No line here holds a real secret. Tokens are put together from parts, so that scanners of this repository have nothing to find.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerail.evidence.redact import redact, redact_command, redact_headers

X16 = "a1B2c3D4e5F6g7H8"
X32 = X16 * 2
X40 = (X16 * 3)[:40]
HEX32 = "0123456789abcdef" * 2
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + X32
BASIC = "dXNlcjpwYXNzd29yZA=="
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{X32 * 2}\n{X32 * 2}\nAb==\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    # (text, the secret in it)
    # known by their own shape
    (f"key sk-{X32}", f"sk-{X32}"),
    (f"Incorrect API key provided: sk-proj-{X32}_{X16}.", f"sk-proj-{X32}_{X16}"),
    (f"x-api-key sk-ant-api03-{X32}-{X16}AA rejected", f"sk-ant-api03-{X32}-{X16}AA"),
    (f"sk-or-v1-{HEX32}", f"sk-or-v1-{HEX32}"),
    (f"?key=AIza{X32}abc&alt=sse", f"AIza{X32}abc"),
    (f"token ya29.{X32}", f"ya29.{X32}"),
    (f"remote: ghp_{X32}abcd", f"ghp_{X32}abcd"),
    (f"gho_{X32}abcd and ghs_{X32}abcd", f"gho_{X32}abcd"),
    (f"github_pat_{X16}_{X40}", f"github_pat_{X16}_{X40}"),
    (f"glpat-{X16}abcd", f"glpat-{X16}abcd"),
    ("slack xoxb-" + "123456789012-" + X16, "xoxb-" + "123456789012-" + X16),
    ("xoxp-" + "1234567890-" + X16, "1234567890-" + X16),
    ("https://hooks.slack.com/services/" + "T00000000/B00000000/" + X16, "T00000000/B00000000/" + X16),
    ("AKIA" + "IOSFODNN7EXAMPL2 is not authorized", "AKIA" + "IOSFODNN7EXAMPL2"),
    ("ASIA" + "IOSFODNN7EXAMPL2", "ASIA" + "IOSFODNN7EXAMPL2"),
    (f"npm_{X32}abcd", f"npm_{X32}abcd"),
    (f"pypi-AgEIcHlwaS5vcmc{X40}", f"AgEIcHlwaS5vcmc{X40}"),
    (f"hf_{X32}ab", f"hf_{X32}ab"),
    ("client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo="),
    ("account SK0123456789abcdef0123456789abcdef", "SK0123456789abcdef0123456789abcdef"),
    ("key-0123456789abcdef0123456789abcdef", "key-0123456789abcdef0123456789abcdef"),
    ("HRKU-AAB1c2d3e4f5a6b7c8d9e0f1a2b3", "HRKU-AAB1c2d3e4f5a6b7c8d9e0f1a2b3"),
    (f"sq0atp-{X16}abcdef", f"sq0atp-{X16}abcdef"),
    (f"tvly-dev-{X32}", f"tvly-dev-{X32}"),
    (f"CLOJARS_{HEX32}{HEX32}", f"{HEX32}{HEX32}"),
    (f"Authorization: Bearer\n {X32}", X32),  # a folded header
    (f"authorization: basic \r\n\t{X32}", X32),
    (f"-----BEGIN RSA PRIVATE KEY-----\n{X32}{X32}\n{X40}{X16} HTTP 503", f"{X40}{X16}"),
    ("machine h.example.com login u password hunter2hunter2", "hunter2hunter2"),
    ("mysql -u root -phunter2 shop < dump.sql", "hunter2"),
    ("mysqldump --single-transaction -u app -pHunter2 shop", "Hunter2"),
    (f"headers=[('authorization', 'Bearer {X16}'), ('accept', '*/*')]", X16),
    (f"[(b'x-api-key', b'{X16}')]", X16),
    ("sk_" + f"live_{X16}", f"live_{X16}"),
    ("SG." + f"{X16}abcdef.{X32}abcdefghijk", X32),
    (f"gsk_{X32}", f"gsk_{X32}"),
    (f"hvs.{X32}", f"hvs.{X32}"),
    (f"dapi{HEX32}", f"dapi{HEX32}"),
    (f"bot 123456789:AA{X32}a", f"AA{X32}a"),
    (f"token%3Dghp_{X32}abcd", X32),
    (f"session {JWT} expired", JWT),
    (PEM, X32),
    (PEM.replace("\n", "\\n"), X32),
    (f"log\n{PEM}\nafter", "Ab=="),
    (PEM.rpartition("\n")[0], X32),  # its end was clipped
    (f"{X32 * 2}\n{PEM.partition(chr(10))[2]}", X32),  # its beginning was
    # where the web puts them
    (f"Authorization: Bearer {X32}", X32),
    (f"authorization: token {X16}", X16),
    (f"'Authorization': 'Basic {BASIC}'", BASIC),
    (f"-H 'Authorization: Bearer abc.{X16}'", X16),
    (f"Authorization: AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host, Signature={HEX32}", HEX32),
    (f"sent Bearer {X32} and failed", X32),
    (f"Basic {BASIC}", BASIC),
    (f"Cookie: theme=dark; session={X16}", X16),
    (f"< set-cookie: sid={X16}; Path=/; HttpOnly", X16),
    ("fatal: unable to access 'https://user:hunter2@example.org/r.git/'", "hunter2"),
    (f"https://x-access-token:{X32}@github.com/o/r", X32),
    (f"https://{X32}@github.com/o/r", X32),
    ("postgres://app:s3cr3t@db:5432/x", "s3cr3t"),
    ("postgresql://app:pa/ss@wo@db/x", "pa/ss@wo"),
    ("redis://:hunter2@cache:6379/0", "hunter2"),
    ("GET https://api.example/x?securityToken=EXAMPLE-TOKEN-0000", "EXAMPLE-TOKEN-0000"),
    (f"https://b.s3.amazonaws.com/o?X-Amz-Credential=a%2Fb&X-Amz-Signature={HEX32}&X-Amz-Expires=60", HEX32),
    (f"https://b.blob.core.windows.net/c?sv=2024&sig={X16}%3D&se=2026", X16),
    ("grant_type=authorization_code&client_secret=hunter2hunter&code=4/0AXabc123def", "0AXabc123def"),
    ("grant_type=authorization_code&client_secret=hunter2hunter&code=4/0AXabc123def", "hunter2hunter"),
    ("curl -u admin:hunter2 https://x", "hunter2"),
    # known by the name beside them
    ("password=hunter2", "hunter2"),
    ("DB_PASSWORD=p@ss,w0rd;x&y", "p@ss,w0rd;x&y"),
    ("export OPENAI_API_KEY=abc123", "abc123"),
    ("TOKEN=mysecrettoken ./run", "mysecrettoken"),
    ("MYSQL_PWD=hunter2", "hunter2"),
    ('{"password": "hunter2", "user": "x"}', "hunter2"),
    ('{"api_key":"abcdef"}', "abcdef"),
    ("{'client_secret': 'abc-def-ghi'}", "abc-def-ghi"),
    ('{\\"refresh_token\\": \\"abc-def\\"}', "abc-def"),
    ('{"password": "correct horse battery staple"}', "correct horse battery staple"),
    ('{"user": "x", "password": "hunter2', "hunter2"),
    ("password: 'hunter2\nit's the 'next' line", "hunter2"),
    ("password: hunter2\nuser: x", "hunter2"),
    ("secret_key: 'abc def'", "abc def"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"),
    ("--password hunter2 --host db", "hunter2"),
    ("--api-key=abcdef", "abcdef"),
    ("--token=mysecret", "mysecret"),
    ("Server=db;User Id=sa;Password=hunter2;Encrypt=True", "hunter2"),
    ("AccountName=x;AccountKey=YWJjZGVmZ2hpamts==;EndpointSuffix=core", "YWJjZGVmZ2hpamts=="),
    ("//registry.npmjs.org/:_authToken=abc-def", "abc-def"),
    (f'"auth": "{BASIC}"', BASIC),
    ("<password>hunter2</password>", "hunter2"),
    ("os.environ['API_TOKEN'] = 'abc-def'", "abc-def"),
    (f"X-Vault-Token: {X16}", X16),
    (f"access_token: {X16}", X16),
    (f"token: {X16}", X16),
    ("api_key=" + "x1" * 3000, "x1" * 20),
]

NOT_SECRET = [
    "Authorization failed",
    "Authorization: required",
    "authorization header is missing",
    "Authorization: Bearer token missing",
    'WWW-Authenticate: Bearer realm="example", error="invalid_token"',
    'www-authenticate: Bearer authorization_uri="https://login.example/x", error="invalid_token"',
    "Basic authentication is not supported",
    "Invalid API key · Fix external API key",
    "Incorrect API key provided",
    "The api_key client option must be set either by passing api_key to the client or by setting OPENAI_API_KEY",
    "token limit exceeded",
    "max_tokens: 4096",
    '"max_tokens": 4096, "prompt_tokens": 12, "total_tokens": 123456789',
    "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
    "key 'name' is missing",
    "KeyError: 'name'",
    "KeyError: 'OPENAI_API_KEY'",
    "invalid token '}'",
    "Unexpected token } in JSON at position 12",
    "SyntaxError: Unexpected token: punc (})",
    "invalid_token: The access token expired",
    "token_type: bearer",
    'password authentication failed for user "x"',
    "password: must be at least 8 characters",
    "password: This field is required.",
    '{"password": ["This field is required."]}',
    '{"password": "This field is required."}',
    '{"token": "Token is invalid or expired"}',
    "api_key\n  Field required [type=missing, input_value={}, input_type=dict]",
    "secret: not found",
    'MountVolume.SetUp failed for volume "x" : secret "db-creds" not found',
    "unknown option --token",
    "error: the following arguments are required: --token, --password",
    "usage: x [--token TOKEN] [--password PASSWORD]",
    "      --password string   the password to use",
    "--token must be set",
    "def login(user: str, password: str, token: Optional[str] = None) -> None:",
    "    client = Client(api_key=settings.api_key, token=os.environ['TOKEN'])",
    "    password=getpass()",
    "TOKEN=${TOKEN} PASSWORD=$DB_PASSWORD api_key={{ secrets.KEY }} token=<your-token> secret=%(secret)s",
    "password=******** token=xxxxxxxx",
    "password=None token=null",
    "[sudo] password for user: Sorry, try again.",
    "Enter passphrase for key '/home/u/.ssh/id_ed25519':",
    "PWD=/home/user/project OLDPWD=/tmp",
    "fatal: bad object 3f786850e387550fdab836ed7e6dc881de23001b",
    "request id: req_011CSHoEeqs5C35K2UUqR7Fy",
    "x-request-id: 7f3c2b1a-1234-4abc-9def-0123456789ab",
    "error code 0x80070005 TS2304 E501 SQLSTATE 23505",
    "git@github.com: Permission denied (publickey).",
    "ssh://git@github.com/o/r.git",
    "https://registry.npmjs.org/@scope/pkg",
    "https://registry.example:8443/@scope/pkg",
    "https://api.example.org/v1?page=2&code=404&error=invalid_grant",
    "--- PASS: TestLogin (0.00s)",
    "cookie: not found",
    "pwd: couldn't find directory entry in '..' with matching i-node",
    "pwd: error retrieving current directory: getcwd: cannot access parent directories",
    "mysql -h db -P 3306 -p shop",
    "mysql: [Warning] Using a password on the command line interface can be insecure.",
    "headers=[('content-type', 'application/json'), ('accept', '*/*')]",
    "task-management-and-scheduling-of-long-words",
    "sk-learn-like-words-joined-by-hyphens",
    "author: A. U. Thor, keyboard: qwerty, monkey: ape, tokenizer: bpe",
    "tests/test_token.py::test_secret[password-1] FAILED",
    "-----BEGIN CERTIFICATE-----",
    "docker run -u 1000:1000 image",
    "git push -u origin HEAD:refs/heads/x",
    "ghp_ and sk- and AKIA are prefixes",
    "E   assert token == 'abc12345'",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_replaced(text: str, secret: str) -> None:
    redacted = redact(text)
    assert secret not in redacted
    assert "[redacted:" in redacted


@pytest.mark.parametrize("text", NOT_SECRET)
def test_what_names_the_failure_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("password=hunter2 host=db", "password=[redacted:password] host=db"),
        ('{"password": "hunter2", "user": "x"}', '{"password": "[redacted:password]", "user": "x"}'),
        ("https://user:hunter2@example.org/r", "https://user:[redacted:password]@example.org/r"),
        ("GET /x?page=2&token=abc#top", "GET /x?page=2&token=[redacted:query]#top"),
        ("Server=db;Password=hunter2;Encrypt=True", "Server=db;Password=[redacted:password];Encrypt=True"),
        (f"Authorization: Bearer {X32}\nAccept: */*", "Authorization: Bearer [redacted:authorization]\nAccept: */*"),
        (f"key sk-{X32}, status 401", "key [redacted:api-key], status 401"),
        ("--password hunter2 --host db", "--password [redacted:password] --host db"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.parametrize("text", [text for text, _ in SECRETS])
def test_line_numbers_stay_true(text: str) -> None:
    assert redact(text).count("\n") == text.count("\n")


def test_only_the_key_block_is_taken_out_of_a_log() -> None:
    assert redact(f"before\n{PEM}\nafter") == "before\n[redacted:private-key]\n\n\n\n\nafter"


PIECES = st.sampled_from(
    [
        "password", "token", "api_key", "Authorization", "Bearer ", "Basic ", "Cookie", "secret", "=", ":", ": ", " ", "\n", '"',
        "'", "\\", '\\"', "{", "}", "[", "]", "<", ">", "-", "--", "&", "?", ";", ",", "@", "://", "/", "$", "%", "hunter2", X16,
        JWT, f"sk-{X16}", f"ghp_{X16}", BASIC, "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", X32 * 2,
        "[redacted:token]",
        "is", "None", "İ", "_KEY", "-u ", "user:", ".eyJ", "eyJ", "x", "1",
    ]
)  # fmt: skip
HOSTILE_TEXT = st.lists(PIECES, max_size=24).map("".join) | st.text()


@given(HOSTILE_TEXT)
@example("password: abc'secret=x")
@example("token=[redacted:token]secret:hunter2")
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(HOSTILE_TEXT)
def test_no_text_gains_or_loses_a_line(text: str) -> None:
    assert redact(text).count("\n") == text.count("\n")


@given(HOSTILE_TEXT, st.sampled_from(SECRETS))
def test_a_secret_on_a_line_of_its_own_goes_whatever_stands_before_it(before: str, case: tuple[str, str]) -> None:
    text, secret = case
    if secret not in before:
        assert secret not in redact(f"{before}\n\n{text}")


@pytest.mark.parametrize(
    "piece",
    [
        "token:", "token: ", "password=", "password= ", 'token:"', "token:'token:\"", "eyJ", ".eyJ", "eyJa.", "sk-", "sk-a",
        "ghp_", "://", "://a:", "://a@", "?", "&a=", "?token=x&", "Bearer ", "bearer aaaaaaaaaaaa ", "Cookie: ",
        "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----\n", "A" * 64 + "\n", "a", "A1b2", '"', '\\"token\\":\\"',
        "authorization: bearer ", "-u a:",
        "--token ", "x_key=", "<password>", "key\\", "\\", "TOKEN=", "password: a ", "İ", "token=a;", "xoxb-", "basic aaaaaaaa ",
        'token:"' + "is " * 150 + '" ', "token: " + "x" * 250 + " ",
    ],
)  # fmt: skip
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    text = piece * (250_000 // len(piece))
    began_s = time.process_time()
    redact(text)
    assert time.process_time() - began_s < 3, "linear work takes about 0.2 s; quadratic work takes minutes"


def test_of_the_headers_only_an_allow_list_is_kept_in_lower_case_and_in_order() -> None:
    headers = {
        "Date": "Mon, 30 Nov 2026 20:18:58 GMT",
        "Retry-After": "17",
        "X-Should-Retry": "false",
        "retry-after-ms": "1700",
        "anthropic-ratelimit-requests-reset": "2026-11-30T20:19:58Z",
        "X-RateLimit-Remaining": 0,
        "x-ratelimit-reset-tokens": "6m0s",
        "Request-Id": "req_011CSHoEeqs5C35K2UUqR7Fy",
        "CF-Ray": "8f1",
        "x-amzn-ErrorType": "ThrottlingException",
        "x-ms-error-code": "AuthorizationFailure",
        "X-OAuth-Scopes": "repo, workflow",
        "grpc-status": "14",
        "Set-Cookie": f"sid={X16}",
        "Authorization": f"Bearer {X16}",
        "X-Api-Key": X16,
        "Location": "https://x",
    }
    kept = redact_headers(headers)
    assert [name for name, _ in kept] == [name.lower() for name in list(headers)[:13]]
    assert dict(kept)["x-ratelimit-remaining"] == "0"
    assert X16 not in repr(kept)


@pytest.mark.parametrize(
    ("challenge", "schemes"),
    [
        (f'Bearer realm="{X16}"', "Bearer"),
        ('Basic realm="x", Digest nonce="y"', "Basic, Digest"),
        ("Negotiate", "Negotiate"),
        (f'Bearer realm="x", error="invalid_token", error_description="{X16}"', "Bearer"),
    ],
)
def test_of_an_authentication_challenge_the_schemes_are_kept(challenge: str, schemes: str) -> None:
    assert redact_headers({"WWW-Authenticate": challenge}) == (("www-authenticate", schemes),)


def test_headers_may_come_as_pairs_as_bytes_and_several_times() -> None:
    headers = [(b"Retry-After", b"3"), ("via", ["1.1 a", "1.1 b"]), ("x-request-id", "a\r\nx-evil: 1")]
    assert redact_headers(headers) == (
        ("retry-after", "3"),
        ("via", "1.1 a"),
        ("via", "1.1 b"),
        ("x-request-id", "a x-evil: 1"),
    )


def test_a_header_that_carries_a_url_is_redacted() -> None:
    (header,) = redact_headers({"X-GitHub-SSO": f"required; url=https://github.com/sso?authorization_token={X16}"})
    assert X16 not in header[1]


@pytest.mark.parametrize(
    ("argv", "redacted"),
    [
        (["x", "--token", "abc", "y"], ("x", "--token", "[redacted:argument]", "y")),
        (["x", "--api-key", "--verbose"], ("x", "--api-key", "--verbose")),
        (["x", "--password=hunter2"], ("x", "--password=[redacted:password]")),
        (["curl", "-u", "me:hunter2"], ("curl", "-u", "me:[redacted:password]")),
        (["curl", "-H", f"X-Api-Key: {X16}"], ("curl", "-H", "X-Api-Key: [redacted:api-key]")),
        (["git", "push", "-u", "origin", "main"], ("git", "push", "-u", "origin", "main")),
        (["env", "TOKEN=abcdef", "x"], ("env", "TOKEN=[redacted:token]", "x")),
    ],
)
def test_a_command_is_redacted_argument_by_argument(argv: list[str], redacted: tuple[str, ...]) -> None:
    assert redact_command(argv) == redacted
    assert redact_command(redacted) == redacted
