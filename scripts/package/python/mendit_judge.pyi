"""Judges the patches that models write against files in memory, and writes nothing."""

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

class Judge:
    """Judges replies against files: a path relative to the root of the repository for each."""

    def __init__(
        self,
        files: Mapping[str, Union[str, bytes]],
        *,
        strict: bool = False,
        as_written: bool = False,
        reverse: bool = False,
        strip: Optional[int] = None,
        directory: str = "",
        allow_protected: Sequence[str] = ...,
    ) -> None:
        """Raises ValueError for a name that is no path in a repository, and for a malformed glob."""

    def judge(self, reply: Union[str, bytes]) -> Judged:
        """Judges a patch in any form that is read, with whatever surrounds it."""

class Judged:
    """A verdict and what the files would be."""

    @property
    def applies(self) -> bool: ...
    @property
    def feedback(self) -> str:
        """What the author of the patch needs to know; empty when it applies."""
    @property
    def error_code(self) -> Optional[str]:
        """The code of the first error, such as `P403`."""
    @property
    def verdict(self) -> dict[str, Any]:
        """The document `patch-verdict`, as `mendit check --format json` prints it."""
    @property
    def files(self) -> dict[str, Optional[bytes]]:
        """Each path that changes and what it holds then, `None` for a file that goes; empty unless it applies."""
