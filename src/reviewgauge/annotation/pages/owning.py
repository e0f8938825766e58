"""The owner's page of a project: progress, people, guidelines, remarks.

The owner's page of agreement: raters against each other, and who needs calibration.
"""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.responses import RedirectResponse, Response

from reviewgauge.analysis.outlying_raters import MOST_DIFFERENCES
from reviewgauge.annotation.live import live_agreement
from reviewgauge.annotation.pages.visits import Visit
from reviewgauge.annotation.store.accounts import Role, all_accounts, invite, open_invitations
from reviewgauge.annotation.store.owner import (
    all_remarks,
    close_account,
    end_batch,
    open_rest,
    reopen_account,
    withdraw,
)
from reviewgauge.annotation.store.projects import current_guidelines, edit_guidelines, status
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.agreement import Coefficient


def agreement_page(visit: Visit) -> Response:
    """Agreement on the batches that are over."""
    found = live_agreement(visit.service.database, visit.service.project, visit.owner)
    dimensions = [one for one in found.report.dimensions if one.judged_twice] if found.report else []
    return visit.page(
        "agreement.html.j2",
        found=found,
        dimensions=dimensions,
        main={one.dimension: headline(one.coefficients) for one in dimensions},
        most=MOST_DIFFERENCES,
    )


def headline(coefficients: tuple[Coefficient, ...]) -> list[Coefficient]:
    """The two figures that are read first: how often raters agree, and Krippendorff's alpha."""
    wanted = ("percent agreement", "Krippendorff's alpha (ordinal)", "Krippendorff's alpha (nominal)")
    found = {one.name: one for one in coefficients}
    return [found[name] for name in wanted if name in found][:2]


def project_page(visit: Visit, link: str = "") -> Response:
    """How far the project is, and what an owner can do about it."""
    service, owner = visit.service, visit.owner
    with service.database.reading() as connection:
        people = all_accounts(connection)
        invited = open_invitations(connection, service.database.clock())
        version, text = current_guidelines(connection, service.project.id)
    progress = status(service.database, service.project)
    return visit.page(
        "project.html.j2",
        status=200,
        progress=progress,
        waiting=sum(not batch.open for batch in progress.batches),
        pilot_over=all(batch.over for batch in progress.batches if batch.kind == "pilot"),
        people=people,
        invited=[(one, f"{datetime.fromtimestamp(one.expires, UTC):%d %B}") for one in invited],
        version=version,
        guidelines=text,
        remarks=all_remarks(service.database, service.project, owner),
        roles=[role.value for role in Role],
        link=link,
        local=visit.service.local_owner is not None,
    )


def change_project(visit: Visit) -> Response:
    """What an owner asks for on that page."""
    service, owner, action = visit.service, visit.owner, visit.field("action")
    if action == "invite":
        languages = [word.strip() for word in visit.field("languages").split(",") if word.strip()]
        if visit.field("role") not in list(Role):
            raise UserError("there is no such role")
        token = invite(service.database, Role(visit.field("role")), languages, by=owner.id)
        return project_page(visit, f"{service.origin}/invitation/{token}")
    if action == "guidelines":
        edit_guidelines(service.database, service.project.id, visit.field("text"), owner.id)
    elif action == "end_batch":
        end_batch(service.database, service.project, owner, visit.number("batch"))
    elif action == "open_rest":
        open_rest(service.database, service.project, owner)
    elif action == "close":
        close_account(service.database, owner, visit.number("account"))
    elif action == "reopen":
        reopen_account(service.database, owner, visit.number("account"))
    elif action == "withdraw":
        withdraw(service.database, owner, visit.field("invitation"))
    else:
        raise UserError("there is nothing like that to do")
    return RedirectResponse("/project", 303)
