"""The small real project that the demo works on: a git repository with one failing test.

Promises: made wholly in a folder given by the caller, needs git and nothing from the network, and its tests run with
the standard library of Python alone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

FILES: dict[str, str] = {
    ".gitignore": "__pycache__/\n",
    "README.md": (
        "# Shop\n\nPrices, carts and receipts of a very small shop.\n\nRun the tests with `python3 -m unittest -v`.\n"
    ),
    "pyproject.toml": (
        '[project]\nname = "shop"\nversion = "0.3.0"\nrequires-python = ">=3.11"\n\n'
        '[tool.shop]\ntest = "python3 -m unittest -v"\n'
    ),
    "shop/__init__.py": '"""A very small shop."""\n',
    "shop/cart.py": '''"""What a customer is about to buy."""

from dataclasses import dataclass, field

from shop.price import Item


@dataclass
class Cart:
    """Items in the order in which they were added."""

    items: list[Item] = field(default_factory=list)

    def add(self, item: Item) -> None:
        """Put one more item in."""
        self.items.append(item)

    def total(self) -> int:
        """The sum in cents, discounts included."""
        return sum(item.cents() for item in self.items[1:])

    def count(self) -> int:
        """How many single things there are."""
        return sum(item.quantity for item in self.items)
''',
    "shop/price.py": '''"""What a thing costs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """A thing, how often, and the discount on it in percent."""

    name: str
    unit_cents: int
    quantity: int = 1
    discount: int = 0

    def cents(self) -> int:
        """Price of all of them in cents, rounded down in favour of the customer."""
        return self.unit_cents * self.quantity * (100 - self.discount) // 100
''',
    "shop/receipt.py": '''"""The receipt, as text."""

from shop.cart import Cart


def receipt(cart: Cart) -> str:
    """One line an item, and the total."""
    lines = [f"{item.quantity:>3} x {item.name:<20} {item.cents() / 100:>8.2f}" for item in cart.items]
    lines.append(f"{'total':<26} {cart.total() / 100:>8.2f}")
    return "\\n".join(lines)
''',
    "tests/__init__.py": "",
    "tests/test_cart.py": """import unittest

from shop.cart import Cart
from shop.price import Item


class CartTest(unittest.TestCase):
    def test_total_counts_every_item(self):
        cart = Cart()
        cart.add(Item("pen", 120, 2))
        cart.add(Item("book", 1500))
        self.assertEqual(cart.total(), 1740)

    def test_empty_cart_costs_nothing(self):
        self.assertEqual(Cart().total(), 0)

    def test_count_adds_quantities(self):
        cart = Cart([Item("pen", 120, 2), Item("book", 1500)])
        self.assertEqual(cart.count(), 3)
""",
    "tests/test_price.py": """import unittest

from shop.price import Item


class PriceTest(unittest.TestCase):
    def test_discount_rounds_down(self):
        self.assertEqual(Item("pen", 99, 1, 50).cents(), 49)
""",
}
"""Path within the project -> content."""

BUG = (
    "        return sum(item.cents() for item in self.items[1:])",
    "        return sum(item.cents() for item in self.items)",
)
"""The faulty line of shop/cart.py and what it should be."""

TEST_COMMAND = "python3 -m unittest -v"


class ProjectFault(Exception):
    """The project could not be made; the message says why and what to do."""


def make_project(folder: Path) -> None:
    """Write the project into an empty or missing folder and commit it.

    Raises ProjectFault where git is missing or fails, and OSError where the folder cannot be written.
    """
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message=Start the shop")


def _git(folder: Path, *arguments: str) -> None:
    # the demo must not depend on the person's identity, hooks, signing or templates
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "Shop",
        "GIT_AUTHOR_EMAIL": "shop@example.invalid",
        "GIT_COMMITTER_NAME": "Shop",
        "GIT_COMMITTER_EMAIL": "shop@example.invalid",
    }
    try:
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise ProjectFault("git is not on PATH; the demo needs it to make its scratch project. Install git.") from None
    except subprocess.CalledProcessError as error:
        raise ProjectFault(f"'git {' '.join(arguments)}' failed in {folder}: {error.stderr.strip()}") from None
