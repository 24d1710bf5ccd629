"""Artifacts are whole or not there; private folders are private. (spec EV-2, EV-4, ASK-2)"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from interlock.runtime.events.ids import Ids
from interlock.runtime.events.tool import ArtifactRef
from interlock.runtime.journal import place
from interlock.runtime.journal.artifacts import ArtifactError, ArtifactStore


def test_an_artifact_has_the_digest_of_its_bytes_and_a_path_below_the_session(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, Ids())
    ref = store.put_bytes(b"a\x00b", "output", "application/octet-stream")
    assert (ref.id, ref.bytes, ref.sha256) == ("art_1", 3, hashlib.sha256(b"a\x00b").hexdigest())
    assert store.path(ref).read_bytes() == b"a\x00b"
    assert (
        store.put_bytes(b"", "diff", "text/x-diff", name="../../etc/passwd").path == "artifacts/art_2--etc-passwd.diff"
    )


def test_a_growing_artifact_can_be_read_before_it_is_sealed_and_is_dropped_on_a_fault(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, Ids())
    with pytest.raises(RuntimeError), store.create("output") as growing:  # noqa: PT012
        growing.write(b"one\n")
        growing.write(b"two\n")
        assert growing.path.read_bytes() == b"one\ntwo\n"
        raise RuntimeError("the call failed")
    assert list((tmp_path / "artifacts").iterdir()) == []


@pytest.mark.parametrize("path", ["../other/artifacts/a", "/etc/passwd", "artifacts/../../x", "artifacts/link/x"])
def test_a_reference_never_leads_out_of_the_session(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "s"
    (folder / "artifacts").mkdir(parents=True)
    (folder / "artifacts/link").symlink_to("/etc")
    ref = ArtifactRef(id="a", kind="k", path=path, bytes=1, sha256="0" * 64)
    with pytest.raises(ArtifactError, match="leads out"):
        ArtifactStore(folder, Ids()).path(ref)


def test_the_run_folder_is_made_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(tmp_path / "run"))
    assert os.stat(place.run_home()).st_mode & 0o777 == 0o700


@pytest.mark.parametrize("fault", ["open", "link", "file"])
def test_a_run_folder_that_others_could_use_is_refused_and_named(tmp_path, monkeypatch, fault: str) -> None:
    path = tmp_path / "run"
    if fault == "open":
        path.mkdir()
        path.chmod(0o777)
    elif fault == "link":
        (tmp_path / "real").mkdir(mode=0o700)
        path.symlink_to(tmp_path / "real")
    else:
        path.write_text("")
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(path))
    with pytest.raises(place.PlaceError, match=str(path)):
        place.run_home()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_a_session_id_that_is_no_plain_name_is_refused(name: str) -> None:
    with pytest.raises(place.PlaceError, match="not a session id"):
        place.session_folder(name)
