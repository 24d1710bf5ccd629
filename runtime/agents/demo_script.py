"""The two scripts of the demo: one mends a failing test, the other surveys the project.

Each asks for real things on the real scratch project, looks at what it is told, and takes another path when denied.
"""

from __future__ import annotations

from interlock.runtime.agents.project import BUG, TEST_COMMAND
from interlock.runtime.agents.provider import ModelTurn
from interlock.runtime.agents.scripted import Calls, Script, refused

MEND_TASK = "The tests of the shop fail. Find out why, mend it and show that they pass."
SURVEY_TASK = "Survey the shop: what is in it, how big, and can it be rolled out from here?"


def mend() -> Script:
    """Read the manifest, run the tests, read, edit, run again, answer with the evidence."""
    call = Calls("mend")
    manifest = call.make("read_file", "see how the tests are run", path="pyproject.toml")
    yield ModelTurn("I look at the manifest first, to see how the tests are run.", (manifest,))

    first = call.make("bash", "see which test fails", command=TEST_COMMAND, timeout_s=60)
    told = yield ModelTurn("The tests are run with unittest. I run them as they are.", (first,))
    ran = not refused(told[first.call_id])
    lead = (
        "One test fails: the total is too small. I read the test and the code beside it."
        if ran
        else "I may not run the tests, so I find the fault by reading the test and the code."
    )
    test = call.make("read_file", "what the test expects", path="tests/test_cart.py")
    code = call.make("read_file", "how the total is made", path="shop/cart.py")
    yield ModelTurn(lead, (test, code))

    old, new = BUG
    edit = call.make(
        "edit_file",
        "the sum leaves the first item out",
        path="shop/cart.py",
        old_string=old,
        new_string=new,
    )
    told = yield ModelTurn("`items[1:]` leaves the first item out of the sum. I take the slice away.", (edit,))
    if refused(told[edit.call_id]):
        yield ModelTurn(
            "I was not allowed to change shop/cart.py, so nothing was changed. The fault is in `Cart.total`: it sums "
            "`self.items[1:]` and so leaves the first item out. Summing `self.items` would mend it."
        )
        return

    again = call.make("bash", "see that the tests pass now", command=TEST_COMMAND, timeout_s=60)
    told = yield ModelTurn("Changed. I run the tests once more, for the evidence.", (again,))
    if refused(told[again.call_id]):
        yield ModelTurn("I changed shop/cart.py, but was not allowed to run the tests after it: not verified.")
        return
    yield ModelTurn(
        "Mended: `Cart.total` left the first item out. The change is one line in shop/cart.py, and the tests were run "
        "after it; the record beside this answer says how they ended."
    )


def survey() -> Script:
    """A batch of reads at once, long output, a forbidden command, one that takes too long."""
    call = Calls("survey")
    batch = (
        call.make("glob", "find the modules", pattern="**/*.py"),
        call.make("read_file", "what it is", path="README.md"),
        call.make("read_file", "how prices are made", path="shop/price.py"),
        call.make("read_file", "how receipts are made", path="shop/receipt.py"),
        call.make("grep", "find what is public", pattern=r"def \w+", path="shop"),
    )
    yield ModelTurn("I read the parts of the shop together.", batch)

    count = call.make(
        "bash",
        "print a price list to see how the formatter copes",
        command="seq 1 20000 | awk '{ printf \"%5d x pen   %8.2f\\n\", $1, $1 * 1.2 }' | tee prices.txt",
        timeout_s=30,
    )
    told = yield ModelTurn("Now a long price list, to see how the receipt formatter copes.", (count,))
    listing = "was not printed: I was not allowed to" if refused(told[count.call_id]) else "was printed in full"

    wipe = call.make("bash", "a fresh volume for the roll-out", command="mkfs.ext4 /dev/interlock-demo", timeout_s=30)
    told = yield ModelTurn("For a roll-out the volume would be formatted anew.", (wipe,))
    volume = "is forbidden by policy" if refused(told[wipe.call_id]) else "was tried"

    wait = call.make(
        "bash", "wait for the warehouse to answer", command="echo waiting | tee warehouse.log; sleep 30", timeout_s=2
    )
    told = yield ModelTurn(f"Formatting {volume}. I see whether the warehouse answers.", (wait,))
    warehouse = (
        "was not asked, since I was not allowed to"
        if refused(told[wait.call_id])
        else "did not answer within two seconds"
    )
    yield ModelTurn(
        f"The shop has three modules and two test files. The price list {listing}. Formatting a volume {volume}. "
        f"The warehouse {warehouse}. It cannot be rolled out from here."
    )
