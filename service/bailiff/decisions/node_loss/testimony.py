"""What a fence has said of one machine, and how far that is believed.

A machine that is off gives no sign of life after that. The first sign is taken for that of one that
was switched on, and the fence is asked again; the second refutes the fence, which then speaks of
another machine, and is believed no more before the node is back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.node_loss.facts import NodeLossFacts
from bailiff.decisions.node_loss.proof import contradiction_in, is_held_by_distrust

if TYPE_CHECKING:
    from bailiff.decisions.node_loss.facts import OffProof
    from bailiff.kinds import Node


class FenceTestimony:
    """Of one machine, as of one loss of its node.

    Attributes:
        answer: what the fence said last; None: nothing, or it is to be asked again.
        proof: the answer that is gone by: the node was looked at after it.
        refuted: why the fence is asked once more, which had said that it is off; empty: it is not.
        distrust: why the fence is not believed until the node is back; empty: it is.
    """

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.distrust = ""
        self.forget()

    def forget(self) -> None:
        """What was said is of before, or others may have heard otherwise since; distrust stays."""
        self.answer: OffProof | None = None
        self.proof: OffProof | None = None
        self.refuted = ""
        self._heard_at = 0.0

    @property
    def is_off(self) -> bool:
        """Whether the fence says so, and is believed."""
        return self.proof is not None and self.proof.off and not self.distrust

    @property
    def says_off(self) -> bool:
        """Whether it has said so last, be it believed or not."""
        return self.answer is not None and self.answer.off

    @property
    def is_off_unseen(self) -> bool:
        """It says off, and nobody has looked at the node since."""
        return self.says_off and self.answer is not self.proof

    @property
    def believed(self) -> OffProof | None:
        """What a question about the node brings along."""
        return None if self.distrust else self.proof

    def hear(self, answer: OffProof, elapsed: float) -> None:
        """Take in what the fence says; that a machine is off counts once the node was looked at.

        Args:
            answer: of the fence.
            elapsed: seconds, never stepped.
        """
        self.answer, self._heard_at = answer, elapsed
        if not answer.off:
            self.proof, self.refuted = answer, ""

    def weigh(self, node: Node, sign_at: float) -> None:
        """Hold what was said against the node's last sign of life.

        Args:
            node: as it is now.
            sign_at: elapsed seconds of that; minus infinity: there was none.
        """
        if self.says_off and sign_at > self._heard_at and not self.distrust:
            told = contradiction_in(node, NodeLossFacts(proof=self.answer), lives=True)
            self.distrust = told if self.refuted else ""
            self.refuted, self.answer, self.proof = told, None, None

    def against(self, node: Node, *, lives: bool) -> str:
        """Why what is known of the node cannot be; empty: it can.

        A person who says by the taint that the machine is off may have been a minute early, and is
        believed once the node does not live.

        Args:
            node: as it is now: it may have been tainted since the last look.
            lives: likewise: its kubelet gives signs of life.
        """
        if self.distrust and is_held_by_distrust(node, lives=lives):
            return self.distrust
        if self.refuted and lives:
            return self.refuted
        return contradiction_in(node, NodeLossFacts(proof=self.believed), lives=lives)
