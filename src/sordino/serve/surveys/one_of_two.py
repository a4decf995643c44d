"""This service as one of two servers: it takes reports and puts the answer together, or checks and adds up with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.accounting.work import Work
from sordino.collect.two_servers.messages import LEADER
from sordino.errors import ArgumentError

from .declared import Declared

if TYPE_CHECKING:
    from sordino.collect.two_servers.helping import Helper


class OneOfTwo:
    """A round that is open here, as the leader's (0) or the helper's (1)."""

    def __init__(self, declared: Declared, work: Work, role: int) -> None:
        self._declared, self._work, self.role = declared, work, role

    @property
    def helper(self) -> Helper:
        """What answers the leader."""
        from sordino.collect.two_servers.helping import Helper

        declared = self._declared
        return Helper(declared.survey, declared.key, declared.folder, self._work)

    def finish(self) -> Any:
        """Settle: at the leader's the answer, which both servers' noise is on; at the helper's what it handed out."""
        return self._answer() if self.role == LEADER else self._handed_out()

    def _answer(self) -> Any:
        """Take no more reports, and have them added up; where the helper is silent, the same can be tried again."""
        from sordino.collect.intake import seal
        from sordino.collect.kept import keep
        from sordino.collect.two_servers.leader import added_up, put_together

        survey, key, folder = self._declared.survey, self._declared.key, self._declared.folder
        seal(folder)
        reports = keep(folder, survey.digest, survey.randomizer)
        total = added_up(survey, key, reports, self._ask)
        return self._work.finish(put_together(survey, key, total, self._work, self._ask))

    def _ask(self, message: bytes) -> bytes:
        from sordino.collect.posting import answered

        survey = self._declared.survey
        url = f"{survey.parties[1].url}/api/v1/surveys/{survey.name}/servers"
        return answered(url, message, silent="the other server of this survey does not answer; close the round later")

    def _handed_out(self) -> Any:
        from sordino.collect.prio3 import NoisedShare

        kept = self._work.recorded(1) if self.helper.collected else None
        if kept is None:
            raise ArgumentError(
                "the other server has not collected yet; the round stays open until it closes its own", "SRD-C713"
            )
        return self._work.finish(NoisedShare.from_json(kept))
