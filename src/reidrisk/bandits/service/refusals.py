"""What the service says no to: a status, a code for programs, and one sentence for people (RFC 9457)."""

from reidrisk.base.errors import ReidRiskError


class Refusal(ReidRiskError):
    """A request that is refused; nothing was changed by it."""

    def __init__(self, status: int, code: str, detail: str, wait: float | None = None) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.wait = status, code, detail, wait
