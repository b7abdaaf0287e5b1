import Foundation
import LarderTestSupport
import Testing

/// The gates, run on the project as it is. Each has a test in `GateTests` that it fails on a bad sample.
@Suite("Architecture", .timeLimit(.minutes(5)))
struct ArchitectureTests {
  @Test("Imports follow the matrix, from higher to lower targets")
  func imports() {
    let violations = SourceFile.sources.flatMap(ImportMatrix.violations)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    #expect(SourceFile.sources.count > 50)
  }

  @Test("The matrix and Package.swift have the same dependencies")
  func manifest() throws {
    let manifest = try #require(SourceFile.all(below: ["Package.swift"]).first)
    var declared = ImportMatrix.dependencies(manifest: manifest.text)
    for rig in ["LarderTestSupport", "LarderCrashRig", "LarderStorageRig", "LarderHistoryRig", "LarderHistoryRunner"] {
      declared[rig] = nil
    }
    #expect(declared == ImportMatrix.rows.mapValues(\.targets))
  }

  @Test("Files and functions are within their budgets")
  func budgets() {
    let files = SourceFile.sources + SourceFile.tests
    let violations = files.flatMap(Budgets.violations)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    let longest = files.max { $0.lines.count < $1.lines.count }
    let functions = files.flatMap { file in Budgets.functions(inCode: file.code).map { (file.path, $0) } }
    #expect(functions.count > 300)
    if let longest, let function = functions.max(by: { $0.1.lines < $1.1.lines }) {
      print(
        "longest file: \(longest.path), \(longest.lines.count) lines;",
        "longest function: \(function.1.name) in \(function.0), \(function.1.lines) lines")
    }
  }

  @Test("No source can trap on bad input")
  func traps() {
    let violations = SourceFile.sources.flatMap(Traps.violations)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
  }

  @Test("No source uses a lock other than Locked")
  func rawLocks() {
    let violations = SourceFile.sources.flatMap(Traps.rawLocks)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
  }

  @Test("Time, random numbers and tasks come from LarderEnvironment, except in files that are listed with a reason")
  func ambient() {
    let violations = SourceFile.sources.flatMap(AmbientState.violations).map(\.description)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    for (path, exception) in AmbientState.exceptions {
      let uses = SourceFile.sources.filter { $0.path == path }.flatMap(AmbientState.uses)
      #expect(Set(uses.map(\.name)) == exception.names, "the exception of \(path)")
    }
  }

  @Test("No test waits for a fixed time, except in files that are listed with a reason")
  func sleeps() {
    let violations = SourceFile.tests.filter { !$0.path.hasPrefix("Tests/ArchitectureTests/") }.flatMap(Traps.sleeps)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    let paths = Set(SourceFile.tests.map(\.path))
    for path in Traps.sleepingFiles.keys { #expect(paths.contains(path), "\(path) is not a file") }
  }

  @Test("No folders of a target use each other's types, except for the cycles with a reason", arguments: [false, true])
  func folders(isDeep: Bool) {
    let cycles = FolderCycles.cycles(in: SourceFile.sources, isDeep: isDeep)
    let reasons = isDeep ? FolderCycles.allowedBelow : FolderCycles.allowed
    let unexpected = cycles.filter { reasons[$0.name] == nil && FolderCycles.allowed[$0.name] == nil }
    #expect(unexpected.isEmpty, "\(unexpected.map(\.description).joined(separator: "\n"))")
    let gone = Set(reasons.keys).subtracting(cycles.map(\.name))
    #expect(gone.isEmpty, "no longer a cycle: \(gone)")
  }

  @Test("No two targets have types of the same name")
  func typeNames() {
    let names = TypeNames.shared(in: SourceFile.sources)
    #expect(names.isEmpty, "\(names.joined(separator: "\n"))")
  }

  @Test("Code for both platforms uses no API of Linux only")
  func portability() {
    let violations = (SourceFile.sources + SourceFile.tests).flatMap(Portability.violations)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
  }

  @Test("Each claim that the compiler cannot check has a comment with its reason")
  func claims() {
    let violations = (SourceFile.sources + SourceFile.tests).flatMap(Traps.unreasoned)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
  }

  @Test("Every suite has a time limit")
  func timeLimits() {
    let violations = SourceFile.tests.flatMap(Traps.unlimitedSuites)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
  }

  @Test("No file contains a path of a developer's machine")
  func wording() {
    let places = [
      "Sources", "Tests", "Snippets", "Benchmarks", "Fuzzing", "Scripts", "docs", "Makefile", "Package.swift",
      "README.md", "CONTRIBUTING.md", "CHANGELOG.md", ".ci",
    ]
    let violations = SourceFile.all(below: places).flatMap(Wording.violations)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
  }

  @Test(
    "Every path in a document exists",
    arguments: ["docs/map.md", "README.md", "CONTRIBUTING.md", "THIRD-PARTY.md", "docs/decisions"])
  func paths(document: String) throws {
    let files = SourceFile.all(below: [document])
    try #require(!files.isEmpty, "\(document) is missing")
    for file in files {
      let missing = Map.missingPaths(in: file.text) {
        FileManager.default.fileExists(atPath: PackageRoot.path($0))
      }
      #expect(missing.isEmpty, "\(file.path): \(missing)")
    }
  }

  @Test("Each target has a map", arguments: ImportMatrix.rows.keys.filter { $0 != "LarderTool" }.sorted())
  func maps(target: String) {
    let file = SourceFile.sources.first { $0.path == "Sources/\(target)/\(target).swift" }
    #expect(Map.problem(target: target, text: file?.text) == nil)
  }

  @Test("docs/map.md contains every target")
  func mapIsWhole() throws {
    let map = try #require(SourceFile.all(below: ["docs/map.md"]).first)
    for target in ImportMatrix.rows.keys { #expect(map.text.contains("Sources/\(target)/"), "\(target)") }
    #expect(map.lines.count <= 60)
  }

  @Test("README shows code before line 30 and has at most 150 lines")
  func readme() throws {
    let lines = try #require(SourceFile.all(below: ["README.md"]).first).lines
    #expect(lines.count <= 150)
    let sample = try #require(lines.firstIndex { $0.hasPrefix("```swift") })
    #expect(sample < 30)
  }
}
