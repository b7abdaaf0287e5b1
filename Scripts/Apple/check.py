#!/usr/bin/env python3
"""check.py PROJECT [macos|ios] [TARGET...]: type-checks a Swift package for Apple's platforms, on Linux. See README.md."""
import concurrent.futures, fcntl, hashlib, json, os, pathlib, re, shutil, subprocess, sys, tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RULES = json.loads((HERE / "rules.json").read_text())
# What is built once for each toolchain; in the folder of what was built.
WORK = ROOT / ".build" / "apple"
JOBS = int(os.environ.get("JOBS", os.cpu_count() or 1))
started = time.monotonic()


def run(*command, **more):
    return subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def must(*command, **more):
    done = run(*command, **more)
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(str(c) for c in command)}")
    return done.stdout


def ziglang():
    """The folder of Darwin's C headers, in the .venv that Scripts/setup makes."""
    found = next(iter((ROOT / ".venv").glob("lib/python3*/site-packages/ziglang/lib")), None)
    return str(found) if found else sys.exit("no ziglang in .venv; run Scripts/setup apple")


def sdks(platforms, package):
    """Builds what is missing; one folder for each toolchain, state of this folder, and oldest system that the manifest supports."""
    oldest = {"macos": "15.0", "ios": "18.0"} | {p["platformName"]: p["version"] for p in package["platforms"] or []}
    oldest = {"MACOS": oldest["macos"], "IOS": oldest["ios"]}
    state = hashlib.sha256(must("swiftc", "--version").encode() + str(oldest).encode())
    for file in sorted(HERE.rglob("*")):
        if file.is_file() and HERE / "Program" not in file.parents and (file.parent != HERE or file.name in ("make-sdk", "foundation.py", "rules.json")):
            state.update(str(file.relative_to(HERE)).encode() + file.read_bytes())
    home = WORK / state.hexdigest()[:12]
    home.mkdir(parents=True, exist_ok=True)
    with open(WORK / "lock", "w") as lock:  # a second run waits for the first
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [p for p in platforms if not (home / p / "flags").exists()]
        if missing:
            for old in WORK.glob("????????????"):
                if old != home and time.time() - old.stat().st_mtime > 86400:
                    shutil.rmtree(old)
            environment = os.environ | oldest | {"ZIG": ziglang(), "HEADERS": " ".join(RULES["headers"])}
            print(f"building the SDK for {' and '.join(missing)} in {home}", flush=True)
            with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
                list(pool.map(lambda p: must(HERE / "make-sdk", p, home / p, env=environment), missing))
            print(f"built in {time.monotonic() - started:.0f} s", flush=True)
    return home


def manifest(project):
    """What the manifest says on a Mac: `#if os(...)` in it asks for the machine that reads it, so a copy is read with the answers changed."""
    text = (project / "Package.swift").read_text()
    text = re.sub(r"\bos\(Linux\)", "os(WASI)", text)
    text = re.sub(r"\bos\(macOS\)|\bcanImport\(Darwin\)", "os(Linux)", text)
    text = re.sub(r"\bcanImport\((Glibc|Musl)\)", "os(WASI)", text)
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        for entry in project.iterdir():
            if entry.name not in (".build", ".swiftpm", ".git") and not entry.name.startswith("Package"):
                os.symlink(entry, os.path.join(folder, entry.name))
        pathlib.Path(folder, "Package.swift").write_text(text)
        done = subprocess.run(["swift", "package", "--package-path", folder, "dump-package"], text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{done.stderr}\nthe manifest of {project} does not evaluate")
    return json.loads(done.stdout)


class Target:
    def __init__(self, project, described):
        self.name, self.type, self.described = described["name"], described["type"], described
        self.module = re.sub(r"\W", "_", self.name)
        roots = {"test": ["Tests"], "plugin": ["Plugins"]}.get(self.type, ["Sources", "Source", "src", "srcs"])
        places = [described["path"]] if described.get("path") else [f"{r}/{self.name}" for r in roots]
        self.path = next((project / p for p in places if (project / p).is_dir()), project / places[0])

    def holds(self, conditional, platform):
        condition = conditional or {}
        names = condition.get("platformNames") or []
        return (not names or platform in names) and condition.get("config") in (None, "debug")

    def needs(self, platform):
        """Names of targets; of products of other packages with a mark."""
        for d in self.described["dependencies"]:
            (kind, value), = d.items()
            if self.holds(value[-1] if isinstance(value[-1], dict) else None, platform):
                yield value[0] if kind != "product" else "product " + value[0]

    def files(self, platform):
        excluded = [self.path / e for e in self.described.get("exclude", [])]
        chosen = [self.path / s for s in self.described.get("sources") or ["."]]
        inside = lambda file, places: any(p == file or p in file.parents for p in places)
        return sorted(
            f for f in self.path.rglob("*.swift")
            if inside(f, chosen) and not inside(f, excluded) and not any(f.match(p) for p in RULES["exclude"][platform])
        )

    def flags(self, platform, default):
        out, mode = [], default
        for setting in self.described.get("settings", []):
            if setting["tool"] != "swift" or not self.holds(setting.get("condition"), platform):
                continue
            (kind, value), = setting["kind"].items()
            value = value.get("_0") if isinstance(value, dict) else value
            if kind == "swiftLanguageMode": mode = value
            elif kind == "enableUpcomingFeature": out += ["-enable-upcoming-feature", value]
            elif kind == "enableExperimentalFeature": out += ["-enable-experimental-feature", value]
            elif kind == "strictMemorySafety": out += ["-strict-memory-safety"]
            elif kind == "defaultIsolation": out += ["-default-isolation", value if isinstance(value, str) else "MainActor"]
            elif kind == "define": out += ["-D", value.split("=")[0]]
            elif kind == "unsafeFlags": out += value
            # Of warnings treated as errors or not there is no need: each counts.
        return ["-swift-version", mode] + out


def programs(project):
    """The program of an application, once for each way in which Xcode compiles one."""
    if not (project / RULES["program"]["path"]).is_dir():
        return []
    modes = {
        "ProgramSwift5": {"swiftLanguageMode": "5", "enableExperimentalFeature": "StrictConcurrency"},
        "ProgramSwift6": {"swiftLanguageMode": "6"},
        "ProgramMainActor": {"swiftLanguageMode": "6", "defaultIsolation": "MainActor"},
    }
    return [
        {"name": name, "type": "program", "path": RULES["program"]["path"],
         "dependencies": [{"byName": [l, None]} for l in RULES["program"]["libraries"]],
         "settings": [{"tool": "swift", "kind": {kind: {"_0": value}}} for kind, value in settings.items()]}
        for name, settings in modes.items()
    ]


class Check:
    """The targets of one platform."""
    def __init__(self, project, package, platform, home):
        self.project, self.platform, self.sdk = project, platform, home / platform
        self.name = re.sub(r"\W", "_", package["name"].lower())
        self.out = self.sdk / "out" / hashlib.sha256(str(project).encode()).hexdigest()[:8]
        self.out.mkdir(parents=True, exist_ok=True)
        tools = package["toolsVersion"]["_version"]
        self.default = (package.get("swiftLanguageVersions") or ["6" if int(tools.split(".")[0]) >= 6 else "5"])[-1]
        # Code that a build plugin generates is not there.
        checked = [t for t in package["targets"] if not t.get("pluginUsages")]
        self.targets = {t["name"]: Target(project, t) for t in checked + programs(project)}
        self.products = package["products"]
        self.reasons = {}

    def absent(self, name):
        """Why this target cannot be here, or None."""
        if name not in self.reasons:
            self.reasons[name] = None
            target = self.targets.get(name)
            if target is None:
                self.reasons[name] = f"needs {name}, which the manifest does not have here" if not name.startswith("product ") else "needs a " + name
            elif name in RULES["leave out"][self.platform]:
                self.reasons[name] = "rules.json leaves it out"
            elif target.type in ("macro", "plugin", "binary"):
                self.reasons[name] = f"is a {target.type}"
            elif target.type == "executable" and self.platform == "ios":
                self.reasons[name] = "is an executable"
            elif target.type == "system":
                links = re.findall(r'\blink (?:framework )?"([^"]+)"', "".join(m.read_text() for m in target.path.glob("*.modulemap")))
                lacking = [l for l in links if l not in RULES["libraries"][self.platform]]
                if lacking: self.reasons[name] = f"no lib{lacking[0]} in the SDK"
            if target and not self.reasons[name]:
                for need in target.needs(self.platform):
                    if self.absent(need):
                        self.reasons[name] = f"{need}: {self.absent(need)}"
                        break
        return self.reasons[name]

    def closure(self, names):
        """The targets with what they need, what is needed first."""
        order = []
        def visit(name):
            if name not in order and name in self.targets:
                for need in self.targets[name].needs(self.platform): visit(need)
                if name not in order: order.append(name)
        for name in names: visit(name)
        return order

    def chosen(self, asked):
        if asked == ["all"]:
            return list(self.targets)
        if asked:
            return asked
        if self.platform == "ios":  # what an app can link
            libraries = [t for p in self.products if "library" in p["type"] for t in p["targets"]]
            return self.closure(libraries + [n for n, t in self.targets.items() if t.type == "program"])
        return [n for n, t in self.targets.items() if t.type != "test"]

    def plan(self, asked):
        """The targets to compile, in order; and those left out, with the reason."""
        swift = lambda n: self.targets[n].type in ("regular", "executable", "test", "program")
        chosen = self.chosen(asked)
        left = {n: self.absent(n) for n in chosen if self.absent(n)}
        order = [n for n in self.closure(n for n in chosen if n not in left) if swift(n)]
        return order, {n: r for n, r in left.items() if n not in self.targets or swift(n)}

    def compile(self, name, keys):
        """The diagnostics of one target, and whether it has a module. `keys`: of the targets done."""
        target, began = self.targets[name], time.monotonic()
        files, module = target.files(self.platform), self.out / name / f"{target.module}.swiftmodule"
        module.parent.mkdir(exist_ok=True)
        around = [self.targets[n] for n in self.closure([name]) if n != name]
        flags = (self.sdk / "flags").read_text().split() + target.flags(self.platform, self.default)
        key = hashlib.sha256(HERE.joinpath("check.py").read_bytes())
        for other in around:
            # A target sees what it says that it needs, and nothing else: its module, its C headers.
            headers = other.path if other.type == "system" else other.path / (other.described.get("publicHeadersPath") or "include")
            flags += ["-I", str(self.out / other.name)] + (["-I", str(headers)] if headers.is_dir() else [])
            for f in sorted(headers.glob("*.*")): key.update(f.read_bytes())
            if headers.is_dir() and not (headers / "module.modulemap").exists():  # as SwiftPM makes it
                (self.out / other.name / "module.modulemap").write_text(f'module {other.module} {{ umbrella "{headers}" export * }}')
            key.update(keys.get(other.name, "").encode())
        flags += ["-enable-testing", "-DDEBUG", "-DSWIFT_PACKAGE", "-package-name", self.name, "-module-name", target.module]
        if not any(f.name == "main.swift" for f in files): flags.append("-parse-as-library")
        key.update(" ".join(flags).encode())
        for f in files: key.update(str(f).encode() + f.read_bytes())
        keys[name] = key.hexdigest()
        note = module.with_suffix(".key")
        if note.exists() and module.exists() and note.read_text() == keys[name]:
            return [], True, "unchanged"
        if not files:
            return ([], True, "no Swift") if target.path.is_dir() else ([f"{target.path}: no such folder"], False, "")
        note.unlink(missing_ok=True), module.unlink(missing_ok=True)
        done = run("swiftc", "-frontend", "-emit-module", *flags, *files, "-o", module, cwd=self.out)
        module.with_suffix(".log").write_text(done.stdout)
        found = sorted({l.replace(f"{self.project}/", "") for l in done.stdout.splitlines() if re.match(r"\S.*?: (error|warning): ", l) or re.match(r"(error|warning): ", l)})
        if done.returncode and not found:
            found = done.stdout.splitlines()[-5:] or [f"the compiler ended with {done.returncode}"]
        if not found: note.write_text(keys[name])
        return found, module.exists(), f"{time.monotonic() - began:.0f} s"


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    project, asked = pathlib.Path(arguments[0]).resolve(), arguments[1:]
    platforms = [asked.pop(0)] if asked and asked[0] in ("macos", "ios") else ["macos", "ios"]
    WORK.mkdir(parents=True, exist_ok=True)
    package = manifest(project)
    unknown = set(asked) - {"all"} - {t["name"] for t in package["targets"] + programs(project)}
    if unknown:
        sys.exit(f"no such target for Apple's platforms: {', '.join(sorted(unknown))}")
    home = sdks(platforms, package)
    checks = [Check(project, package, p, home) for p in platforms]
    ready, stopped, keys, faults = {}, {}, {}, 0
    say = threading.Lock()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        def job(check, name, before):
            nonlocal faults
            label = f"{check.platform:5} {name}"
            bad = [n for n, f in before if not f.result()]
            if bad:  # it would only say that the module is missing
                with say: print(f"{label}: not checked, {bad[0]} has no module", flush=True)
                return False
            found, module, note = check.compile(name, keys.setdefault(check.platform, {}))
            with say:
                faults += len(found)
                print(f"{label}: {'ok' if not found else f'{len(found)} found'} ({note})", *("  " + f for f in found), sep="\n", flush=True)
            return module
        for check in checks:
            order, left = check.plan(asked)
            if left: print(f"{check.platform:5} left out: " + "; ".join(f"{n} ({r})" for n, r in left.items()), flush=True)
            check.order = order
        if not any(c.order for c in checks): sys.exit("nothing to check")
        # In turn, so that both platforms proceed at the same time; the jobs that a job depends on were submitted before it.
        for i in range(max(len(c.order) for c in checks)):
            for check in checks:
                if i < len(check.order):
                    name = check.order[i]
                    before = [(n, ready[check.platform, n]) for n in check.closure([name])[:-1] if (check.platform, n) in ready]
                    ready[check.platform, name] = pool.submit(job, check, name, before)
        results = [f.result() for f in ready.values()]
    good = faults == 0 and all(results)
    print(f"{'no faults' if good else f'{faults} faults'} in {len(results)} targets, {time.monotonic() - started:.0f} s")
    sys.exit(0 if good else 1)


main()
