"""The telephones of this installation, by the provider of the numbers that call with them."""

from collections.abc import Mapping

from tillhouse.providers.telephony.provider import ProviderName, Telephone
from tillhouse.providers.telephony.simulator.telephone import Simulator
from tillhouse.providers.telephony.sip.telephone import SipTelephone


def telephones() -> Mapping[ProviderName, Telephone]:
    """Those of one process, which closes them when it stops."""
    return {"simulator": Simulator(), "sip": SipTelephone()}
