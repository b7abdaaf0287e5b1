import Testing

/// Each gate is shown bad samples: a gate that lets everything pass is no gate.
@Suite("The architecture tests detect violations", .timeLimit(.minutes(5)))
struct GateTests {
  private func file(_ text: String, path: String = "Sources/LarderOData/Sample.swift") -> SourceFile {
    SourceFile(path: path, text: text)
  }

  @Test(
    "A forbidden import is rejected",
    arguments: [
      ("Sources/LarderOData/A.swift", "public import LarderService"),
      ("Sources/LarderOData/A.swift", "import Foundation"),
      ("Sources/LarderOData/A.swift", "#if os(Linux)\n  import Foundation\n#endif"),
      ("Sources/LarderOData/A.swift", "#if canImport(FoundationEssentials)\n  import Foundation\n#endif"),
      ("Sources/LarderOData/A.swift", "import FoundationNetworking"),
      ("Sources/LarderOData/A.swift", "internal import struct LarderOnline.ODataEntity"),
      ("Sources/LarderOnline/A.swift", "import CLarderSQLite"),
      ("Sources/LarderCurl/A.swift", "@preconcurrency import CLarderXML2"),
      ("Sources/Unheard/A.swift", "let one = 1\nimport LarderHTTP"),
      ("Sources/LarderOnline/A.swift", "import LarderContent"),
      ("Loose.swift", ""),
    ])
  func imports(path: String, text: String) {
    #expect(ImportMatrix.violations(in: file(text, path: path)).count == 1)
  }

  @Test("A text is searched for all words, also behind a NUL")
  func words() {
    #expect(file("let a = usleep(1)").occurring(["usleep(", "Task"]) == ["usleep("])
    #expect(file("let a = \"\0\"\nTask {").occurring(["Task"]) == ["Task"])
  }

  @Test("An allowed import passes, and other lines are ignored")
  func rightImports() {
    let text = """
      // import CLarderSQLite
      #if canImport(FoundationEssentials)
        public import FoundationEssentials
      #else
        public import Foundation
      #endif
      internal import LarderHTTP
      let text = "import Foundation"
      """
    #expect(ImportMatrix.violations(in: file(text)).isEmpty)
    #expect(ImportMatrix.imports(in: file(text)).map(\.module) == ["FoundationEssentials", "Foundation", "LarderHTTP"])
  }

  @Test("The dependencies of a manifest are read, with their conditions")
  func manifest() {
    let text = """
      targets: [
          .target(name: "A", swiftSettings: common),
          .target(
            name: "B",
            dependencies: [
              "A", .target(name: "C", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: [.define("D")]),
          .testTarget(name: "BTests", dependencies: ["B"]),
          .executableTarget(name: "e", dependencies: ["B"]),
        ]
      """
    #expect(ImportMatrix.dependencies(manifest: text) == ["A": [], "B": ["A", "C"], "e": ["B"]])
  }

  @Test("Files and functions over their budget are rejected")
  func budgets() {
    let long = String(repeating: "let x = 1\n", count: 601)
    #expect(Budgets.violations(in: file(long)).count == 1)
    #expect(Budgets.violations(in: file(long, path: "Tests/LarderODataTests/A.swift")).isEmpty)
    #expect(Budgets.violations(in: file(long + long, path: "Tests/LarderODataTests/A.swift")).count == 1)
    let body = String(repeating: "  x += 1\n", count: 79)
    #expect(Budgets.violations(in: file("func f() {\n\(body)}\n")).count == 1)
    #expect(Budgets.violations(in: file("func f() {\n\(body.dropFirst(9))}\n")).isEmpty)
  }

  @Test("A function with four parameters without a label is rejected, unless C calls it")
  func labels() {
    let text = "func f<A>(_ a: (Int, _ b: Int) -> A, _ b: [A], _ c: Int,\n  _ d: A) {}\n"
    #expect(Budgets.violations(in: file(text)).count == 1)
    #expect(Budgets.violations(in: file(text, path: Budgets.callbacks[0])).isEmpty)
    #expect(Budgets.violations(in: file(text.replacing("_ b: [A]", with: "b: [A]"))).isEmpty)
    #expect(Budgets.violations(in: file("init?(_ a: A, _ b: B, _ c: C, _ d: D = f(_, 1)) {}")).count == 1)
    #expect(Budgets.violations(in: file("init(_ a: A, _ b: B, _ c: C, d: D = { _, _ in 1 }) {}")).isEmpty)
  }

  @Test("The lengths of functions are right for any braces in strings and comments")
  func functions() {
    let text = #"""
      protocol P {
        func required(a: Int) -> Int
        init()
      }
      struct S {
        func one() { "}" }
        public static func two(
          a: Int, b: (Int) -> Void = { _ in }
        ) async throws -> Int
        where Int: P
        {
          /* { */ let s = #"{"# + "\(one { "}" })" // {
          self.init(a) { }
        }
        @discardableResult init?(x: Int) {
        }
        subscript(a: Int) -> Int {
          a
        }
        deinit { }
      }
      """#
    #expect(
      Budgets.functions(inCode: SwiftText(text).code) == [
        .init(name: "one", start: 6, lines: 1), .init(name: "two", start: 7, lines: 8),
        .init(name: "init", start: 15, lines: 2), .init(name: "subscript", start: 17, lines: 3),
        .init(name: "deinit", start: 20, lines: 1),
      ])
  }

  @Test(
    "Code that may trap is rejected",
    arguments: [
      "let a = try! f()", "let a = b as! C", "fatalError(\"no\")", "preconditionFailure()", "let a = b!", "f(a![0])",
      "a[0]!.b()", "f()!", "var a: Int!",
    ])
  func traps(line: String) {
    #expect(Traps.violations(in: file(line)).count == 1)
  }

  @Test(
    "Code that only looks like a trap passes",
    arguments: ["if a != b {}", "if !a {}", "// b!", "let a = \"b!\"", "f(!a)", "a = !b", "(!a)", "#\"try!\"#", "a!=b"])
  func noTraps(line: String) {
    #expect(Traps.violations(in: file(line)).isEmpty)
  }

  @Test(
    "A lock other than Locked is rejected",
    arguments: [
      "let a = Mutex(1)", "let a: Mutex<Int>", "let a = NSLock()", "var a = os_unfair_lock()",
      "pthread_mutex_lock(&a)",
    ])
  func rawLocks(line: String) {
    #expect(!Traps.rawLocks(in: file(line)).isEmpty)
    #expect(Traps.rawLocks(in: file(line, path: "Sources/LarderCore/Locked.swift")).isEmpty)
    #expect(Traps.rawLocks(in: file("let a = Locked(1)  // \(line)")).isEmpty)
  }

  @Test(
    "The system's time, random numbers, tasks and threads are rejected",
    arguments: [
      "let a = Date()", "Task { await f() }", "let a = Task<Int, Never> {", "Task.detached {", "Task(priority: .low) {",
      "try await Task.sleep(for: a)", "let a = ContinuousClock.now", "let a = UInt64.random(in: 0...9)",
      "let a = UUID().uuidString", "usleep(9)", "let a: Date = .now", "f(.now)", ".now - a", "return Task {",
      "return Task<Int, Never> {", "return Task<Int, any Error>(priority: .low) {", "f(Task<Int, Never> { 1 })",
      "Task<Int, Never>.detached {", "let a = \"\\(Date())\"", "f(using: a, Date())",
      "f(using: Int.random(in: 0...f(9)), b)",
      "let a = [1].shuffled().sorted(using: b)", "DispatchQueue(label: a)", "DispatchQueue.global().async {",
      "Thread { f() }.start()", "Thread.detachNewThread {", "DetachedThread.start {", "let a = \"SELECT unixepoch()\"",
      "let a = \"time < UNIXEPOCH('now')\"", "let a = \"DEFAULT CURRENT_TIMESTAMP\"", "let a = #\"randomblob(16)\"#",
      "let a = \"\"\"\n  ORDER BY random()\n  \"\"\"", "let a = \"\\(b) ORDER BY random()\"",
      "let a = \"\\(environment.random()) ORDER BY random()\"",
      "let a = \"ORDER BY Random()\"", "let a = \"SELECT UnixEpoch()\"", "let a = \"SELECT date()\"",
      "let a = \"SELECT Time( )\"", "let a = \"SELECT strftime('%s')\"", "let a = \"SELECT StrfTime(?1)\"",
      "let a = Date.init()", "let a = UUID.init()", "let a = time(nil)", "let a = rand()", "srand48(1)",
    ])
  func ambient(line: String) {
    #expect(AmbientState.violations(in: file(line)).count == 1)
    #expect(AmbientState.violations(in: file(line, path: "Sources/LarderCurl/A.swift")).isEmpty)
    #expect(AmbientState.violations(in: file("let a = b  /* \(line) */")).isEmpty)
  }

  @Test("An exception of a file is for the names that it lists")
  func ambientExceptions() {
    let path = "Sources/LarderStorage/File/Lock/SharedCounter.swift"
    #expect(AmbientState.violations(in: file("usleep(9)", path: path)).isEmpty)
    #expect(AmbientState.violations(in: file("let a = Date()", path: path)).count == 1)
  }

  @Test(
    "Code that only looks like it passes",
    arguments: [
      "let a = environment.task {", "let a: Task<Int, Never>?", "if Task.isCancelled {", "Int.random(in: a, using: &b)",
      "Int.random(\n  in: f(a),\n  using: &b)", "func f(_ task: Task<Void, any Error>) {", "let a = UUID(uuid: b)",
      "let a = Date(timeIntervalSince1970: 0)", "func f() -> Task<Int, Never> {", "let a = clock.now", "f().now",
      "environment.random()", "let random = random()", "let a = \"b_\\(environment.random())\"",
      "let a = \"strftime('%f', time, 'unixepoch')\"", "let a = \"strftime('%s', time)\"", "let a = \"date(time)\"",
      "let a = \"last_update()\"", "let a = b.time(nil)", "let a = operand()", "let a = \"\\(b.date())\"",
      "BlockedThread.isMain(#isolation)",
      "func f(queue: DispatchQueue)",
      "a.map { a -> Task<Int, Never>? in", "// SELECT unixepoch()",
    ])
  func noAmbient(line: String) {
    #expect(AmbientState.violations(in: file(line)).isEmpty)
  }

  @Test("A wait for a fixed time in a test is rejected")
  func sleeps() {
    #expect(Traps.sleeps(in: file("try await Task.sleep(for: .seconds(1))", path: "Tests/A/A.swift")).count == 1)
    #expect(Traps.sleeps(in: file("usleep(9)", path: "Tests/TransportTests/Nginx.swift")).isEmpty)
    #expect(Traps.sleeps(in: file("let sleeps = clock.sleeps  // Task.sleep", path: "Tests/A/A.swift")).isEmpty)
  }

  @Test("APIs of Linux are rejected in code for both platforms, and allowed in code for Linux only")
  func portability() {
    for line in [
      "let a = \"/proc/self/fd\"", "Task.immediate {}", "_ = fsync(file)", "guard (fsync(file)) == 0",
      "  if fdatasync(file) != 0 {}",
      "pipe2(&a, 0)",
      "#if canImport(Darwin)\nlet a = \"/proc/self\"\n#endif", "#if os(Linux)\n#else\nTask.immediate {}\n#endif",
      "#if os(Linux)\n#endif\nTask.immediate {}",
    ] {
      #expect(Portability.violations(in: file(line)).count == 1, "\(line)")
    }
    for line in [
      "#if os(Linux)\nlet a = \"/proc/self/fd\"\n#endif",
      "#if canImport(Darwin)\n#else\nlet a = \"/proc/self\"\n#endif",
      "#if !canImport(Darwin)\nTask.immediate {}\n#endif", "// fsync(file)", "_ = FileFlush.flush(file)",
      "#if os(Linux)\n#if DEBUG\nTask.immediate {}\n#endif\n#endif",
    ] {
      #expect(Portability.violations(in: file(line)).isEmpty, "\(line)")
    }
    #expect(Portability.violations(in: file("epoll_wait(a)", path: "Sources/LarderServer/A.swift")).isEmpty)
  }

  @Test("An unchecked claim needs a comment with its reason")
  func claims() {
    #expect(Traps.unreasoned(in: file("final class A: @unchecked Sendable {}")).count == 1)
    #expect(Traps.unreasoned(in: file("let b = 1\nnonisolated(unsafe) var a = 0")).count == 1)
    #expect(Traps.unreasoned(in: file("// Sound: never shared.\nfinal class A: @unchecked Sendable {}")).isEmpty)
    #expect(Traps.unreasoned(in: file("/// Sound: set once.\n@objc\nnonisolated(unsafe) var a = 0")).isEmpty)
    #expect(Traps.unreasoned(in: file("let a = \"@unchecked Sendable\"")).isEmpty)
  }

  @Test("A suite without a time limit is rejected")
  func timeLimits() {
    let bad = file(
      "@Suite(\"a\", .serialized)\nstruct A {}\n@Suite struct B {}", path: "Tests/LarderODataTests/A.swift")
    #expect(Traps.unlimitedSuites(in: bad).count == 2)
    let good = file("@Suite(\"a ) b\", .timeLimit(.minutes(5)))\nstruct A {}")
    #expect(Traps.unlimitedSuites(in: good).isEmpty)
  }

  @Test("A path of a developer's machine is rejected", arguments: Wording.forbidden)
  func wording(text: String) {
    #expect(Wording.violations(in: file("// see \(text)x")).count == 1)
    #expect(Wording.violations(in: file("// see ../shared/odata and https://example.com/place")).isEmpty)
  }

  @Test("A path in the map that does not exist is found")
  func map() {
    let text = "| x | `Sources/LarderOData/LarderOData.swift`, `Sources/Gone/` | `make test`, `a/b.swift` |"
    #expect(
      Map.missingPaths(in: text) { $0 == "Sources/LarderOData/LarderOData.swift" } == ["Sources/Gone/", "a/b.swift"])
  }

  @Test("A target needs a map with numbered stages")
  func targetMap() {
    #expect(Map.problem(target: "A", text: nil) != nil)
    #expect(Map.problem(target: "A", text: "// all about it\nstruct A {}") != nil)
    #expect(Map.problem(target: "A", text: "// The way:\n// 1. in\n// 2. out\n") == nil)
  }

  @Test("Folders that use each other's types are found, also through a third and below a folder")
  func folders() {
    let files = [
      file("struct A {\n  var b: B\n}\nprivate struct Own {}", path: "Sources/LarderOData/First/A.swift"),
      file("struct B {\n  func f(_ a: A, _ own: Own) {}\n}", path: "Sources/LarderOData/Second/Deeper/B.swift"),
      file("public final class C {\n  var b: B? // A\n}", path: "Sources/LarderOData/C.swift"),
      file("struct B {\n  let c: \"C\"\n}", path: "Sources/LarderOnline/Second/B.swift"),
    ]
    let pairs = FolderCycles.cycles(in: files)
    #expect(pairs.map(\.name) == ["LarderOData: First, Second"])
    #expect(pairs.first?.uses == [#"First uses ["B"] of Second"#, #"Second uses ["A"] of First"#])
    let ring = [
      file("struct A {\n  var b: B\n}", path: "Sources/LarderOData/Outer/First/A.swift"),
      file("struct B {\n  var c: C\n}", path: "Sources/LarderOData/Outer/Second/B.swift"),
      file("struct C {\n  var a: A\n}", path: "Sources/LarderOData/Outer/C.swift"),
      file("struct D {\n  var a: A\n}", path: "Sources/LarderOData/Other/D.swift"),
    ]
    #expect(FolderCycles.cycles(in: ring).isEmpty)
    let below = FolderCycles.cycles(in: ring, isDeep: true)
    #expect(below.map(\.name) == ["LarderOData: Outer, Outer/First, Outer/Second"])
  }

  @Test("Types of the same name in two targets are found")
  func typeNames() {
    let files = [
      file("struct A {\n  struct B {}\n}", path: "Sources/LarderOData/A.swift"),
      file("@safe final class A {}\nstruct B {}\n// struct C", path: "Sources/LarderOnline/A.swift"),
      file("private enum B {}\nstruct C {}\nextension A {}", path: "Sources/LarderOnline/B.swift"),
    ]
    #expect(TypeNames.shared(in: files) == ["A: LarderOData, LarderOnline"])
  }
}
