"""The reports that tools write for programs: found, read whole or refused, and made into one value.

What is in a report was written by whatever ran, so it is data of strangers: bounded, without entities, and never a command.
"""

from rerail.reports.find import Before, Found, find
from rerail.reports.model import Check, Report, ReportError
from rerail.reports.read import FORMATS, read_report

__all__ = ["FORMATS", "Before", "Check", "Found", "Report", "ReportError", "find", "read_report"]
