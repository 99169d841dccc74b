"""What is done to objects on their way into the API server, and what is said of them.

Pure, as all of the core: hooks (`bailiff.webhooks`) read what is needed, and ask.
"""

from bailiff.decisions.admission.mutations import Mutation, Mutations, patch_of, tolerations_of
from bailiff.decisions.admission.patch import PatchOperation
from bailiff.decisions.admission.pods import AdmittedPod
from bailiff.decisions.admission.warnings import MAX_WARNING, MAX_WARNINGS, cut_warnings

__all__ = [
    "MAX_WARNING",
    "MAX_WARNINGS",
    "AdmittedPod",
    "Mutation",
    "Mutations",
    "PatchOperation",
    "cut_warnings",
    "patch_of",
    "tolerations_of",
]
