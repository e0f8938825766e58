"""What it costs to leave a parcel in a locker. Amounts are in cents."""

from datetime import datetime, timedelta

DAY = timedelta(days=1)


def storage_fee(stored_at: datetime, now: datetime) -> int:
    """Three days are free; then every begun day costs 1.50, from the eighth charged day on 2.50; never over 30.00."""
    charged = now - stored_at - 3 * DAY
    if charged <= timedelta(0):
        return 0
    days = -(-charged // DAY)
    if days <= 7:
        fee = days * 150
    else:
        fee = 7 * 150 + (days - 7) * 250
    return min(fee, 3000)
