from datetime import timedelta

from tests.support import START, ApiTest
from wayside import notify
from wayside.jobs import expire


class ExpireTest(ApiTest):
    def test_large_parcels_go_back_sooner(self) -> None:
        self.store("WS-1001", size="small")
        self.store("WS-1002", size="large")
        self.assertEqual(expire.run(self.conn, START + timedelta(days=4)), 1)
        self.assertEqual(self.call("GET", "/parcels/WS-1002")[1]["status"], "expired")
        self.assertEqual(expire.run(self.conn, START + timedelta(days=7)), 1)


class OutboxTest(ApiTest):
    def test_every_message_is_sent_once(self) -> None:
        self.store()
        sent = []
        self.assertEqual(notify.deliver(self.conn, lambda to, text: sent.append((to, text))), 1)
        self.assertEqual(notify.deliver(self.conn, lambda to, text: sent.append((to, text))), 0)
        self.assertEqual(sent[0][0], "ada@example.org")
        self.assertIn("Old Quay", sent[0][1])
