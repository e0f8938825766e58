from datetime import timedelta

from tests.support import ApiTest


class ParcelTest(ApiTest):
    def test_a_parcel_from_announcement_to_collection(self) -> None:
        self.store()
        status, body = self.call("GET", "/parcels/WS-1001")
        self.assertEqual((status, body["status"]), (200, "stored"))
        self.assertEqual(body["locker"]["name"], "Old Quay")
        self.assertEqual([event["status"] for event in body["history"]], ["announced", "in_transit", "stored"])
        status, body = self.call("POST", "/parcels/WS-1001/collect", {"code": self.code_sent().lower()})
        self.assertEqual((status, body["status"]), (200, "collected"))

    def test_a_wrong_code_opens_nothing(self) -> None:
        self.store()
        self.assertEqual(self.call("POST", "/parcels/WS-1001/collect", {"code": "AAAAAA"})[0], 409)
        self.assertEqual(self.call("GET", "/parcels/WS-1001")[1]["status"], "stored")

    def test_steps_cannot_be_skipped(self) -> None:
        self.announce()
        self.assertEqual(self.scan("WS-1001", "stored"), 409)
        self.assertEqual(self.scan("WS-1001", "collected"), 400)

    def test_the_fee_is_shown_while_the_parcel_waits(self) -> None:
        self.store()
        self.time += timedelta(days=4)
        self.assertEqual(self.call("GET", "/parcels/WS-1001")[1]["fee"], 150)

    def test_a_scan_may_say_when_it_was_made(self) -> None:
        self.announce()
        self.assertEqual(self.scan("WS-1001", "in_transit", at="2024-01-10T08:15:00Z"), 200)
        self.assertEqual(self.scan("WS-1001", "stored", at="yesterday"), 400)


class RequestTest(ApiTest):
    def test_writing_needs_the_token(self) -> None:
        self.assertEqual(self.call("POST", "/parcels", {}, token="guess")[0], 401)

    def test_what_is_missing_is_named(self) -> None:
        status, body = self.call("POST", "/parcels", {"id": "WS-1001", "locker": "quay", "size": "small"})
        self.assertEqual((status, body["error"]), (400, "recipient is missing"))

    def test_unknown_things_are_not_found(self) -> None:
        self.assertEqual(self.call("GET", "/parcels/WS-9999")[0], 404)
        self.assertEqual(self.call("GET", "/nothing")[0], 404)
