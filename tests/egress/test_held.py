"""Room for bodies."""

from herma.egress.held import Held


def test_no_request_holds_more_than_its_share_nor_all_more_than_there_is() -> None:
    """Room that is given back is there for the next one, and is given back once."""
    held = Held(each=10, total=15)
    one, two = held.ticket(), held.ticket()
    assert one.holds(10)
    assert not one.holds(11)
    assert not one.fits(11)
    assert not two.holds(6)
    assert two.fits(6)
    assert two.holds(5)
    assert held.taken == 15
    one.release()
    one.release()
    assert held.taken == 5
    assert two.holds(10)
