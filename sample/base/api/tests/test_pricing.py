import unittest
from datetime import timedelta

from tests.support import START
from wayside.pricing import storage_fee


class StorageFeeTest(unittest.TestCase):
    def fee(self, **after: int) -> int:
        return storage_fee(START, START + timedelta(**after))

    def test_three_days_are_free(self) -> None:
        self.assertEqual(self.fee(hours=1), 0)
        self.assertEqual(self.fee(days=3), 0)

    def test_a_begun_day_counts(self) -> None:
        self.assertEqual(self.fee(days=3, seconds=1), 150)
        self.assertEqual(self.fee(days=4), 150)
        self.assertEqual(self.fee(days=4, seconds=1), 300)

    def test_it_gets_dearer_after_a_week_and_ends_at_thirty(self) -> None:
        self.assertEqual(self.fee(days=10), 1050)
        self.assertEqual(self.fee(days=11), 1300)
        self.assertEqual(self.fee(days=90), 3000)
