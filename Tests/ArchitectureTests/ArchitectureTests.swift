import Foundation
import LarderTestSupport
import Testing

/// The gates, run on the project as it is. Each has a test in `GateTests` that it fails on a bad sample.
@Suite("Architecture", .timeLimit(.minutes(5)))
struct ArchitectureTests {
  @Test("imports go down only, as the matrix says")
  func imports() {
    let found = SourceFile.sources.flatMap(ImportMatrix.violations)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    #expect(SourceFile.sources.count > 50)
  }

  @Test("the matrix and Package.swift name the same dependencies")
  func manifest() throws {
    let manifest = try #require(SourceFile.all(below: ["Package.swift"]).first)
    var declared = ImportMatrix.dependencies(manifest: manifest.text)
    for rig in ["LarderTestSupport", "LarderCrashRig", "LarderStorageRig", "LarderHistoryRig", "LarderHistoryRunner"] {
      declared[rig] = nil
    }
    #expect(declared == ImportMatrix.rows.mapValues(\.targets))
  }

  @Test("files and functions keep to their budgets")
  func budgets() {
    let files = SourceFile.sources + SourceFile.tests
    let found = files.flatMap(Budgets.violations)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    let longest = files.max { $0.lines.count < $1.lines.count }
    let functions = files.flatMap { file in Budgets.functions(inCode: file.code).map { (file.path, $0) } }
    #expect(functions.count > 300)
    if let longest, let function = functions.max(by: { $0.1.lines < $1.1.lines }) {
      print(
        "longest file: \(longest.path), \(longest.lines.count) lines;",
        "longest function: \(function.1.name) in \(function.0), \(function.1.lines) lines")
    }
  }

  @Test("no source can trap on bad input")
  func traps() {
    let found = SourceFile.sources.flatMap(Traps.violations)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("no source uses a lock other than Locked")
  func rawLocks() {
    let found = SourceFile.sources.flatMap(Traps.rawLocks)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("time, random numbers and tasks come from LarderEnvironment, but in the files that are named with a reason")
  func ambient() {
    let found = SourceFile.sources.flatMap(Traps.ambient)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    let paths = Set(SourceFile.sources.map(\.path))
    for path in Traps.ambientFiles.keys { #expect(paths.contains(path), "\(path) is no file") }
  }

  @Test("no test waits for a time, but in the files that are named with a reason")
  func sleeps() {
    let found = SourceFile.tests.filter { !$0.path.hasPrefix("Tests/ArchitectureTests/") }.flatMap(Traps.sleeps)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    let paths = Set(SourceFile.tests.map(\.path))
    for path in Traps.sleepingFiles.keys { #expect(paths.contains(path), "\(path) is no file") }
  }

  @Test("code of both platforms uses nothing that Linux alone has")
  func portability() {
    let found = (SourceFile.sources + SourceFile.tests).flatMap(Portability.violations)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("each claim that the compiler cannot check has its reason above it")
  func claims() {
    let found = (SourceFile.sources + SourceFile.tests).flatMap(Traps.unreasoned)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("every suite has a time limit")
  func timeLimits() {
    let found = SourceFile.tests.flatMap(Traps.unlimitedSuites)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("no file speaks of the machine it was written on")
  func wording() {
    let places = [
      "Sources", "Tests", "Snippets", "Benchmarks", "Fuzzing", "Scripts", "docs", "Makefile", "Package.swift",
      "README.md", "CONTRIBUTING.md", "CHANGELOG.md", ".ci",
    ]
    let found = SourceFile.all(below: places).flatMap(Wording.violations)
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test(
    "every path that a document names exists",
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

  @Test("each target has its map", arguments: ImportMatrix.rows.keys.filter { $0 != "LarderTool" }.sorted())
  func maps(target: String) {
    let file = SourceFile.sources.first { $0.path == "Sources/\(target)/\(target).swift" }
    #expect(Map.problem(target: target, text: file?.text) == nil)
  }

  @Test("docs/map.md names every target")
  func mapIsWhole() throws {
    let map = try #require(SourceFile.all(below: ["docs/map.md"]).first)
    for target in ImportMatrix.rows.keys { #expect(map.text.contains("Sources/\(target)/"), "\(target)") }
    #expect(map.lines.count <= 60)
  }

  @Test("README shows code before line 30 and ends before line 150")
  func readme() throws {
    let lines = try #require(SourceFile.all(below: ["README.md"]).first).lines
    #expect(lines.count <= 150)
    let sample = try #require(lines.firstIndex { $0.hasPrefix("```swift") })
    #expect(sample < 30)
  }
}
