import Foundation
import LarderTestSupport
import Testing

@testable import LarderGenerator

/// What the build plugin runs, as a process.
@Suite("LarderGeneratorTool", .timeLimit(.minutes(5)))
struct GeneratorToolTests {
  private static let document = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="Address"><Property
      Name="Any" Type="Edm.Untyped"/></ComplexType>
    <ComplexType Name="Other"/></Schema></edmx:DataServices></edmx:Edmx>
    """

  /// Runs the built tool in a folder; the result is its status and what it printed.
  private func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "LarderGeneratorTool")
    process.arguments = arguments
    process.currentDirectoryURL = folder.url
    try folder.write([], to: "printed")
    process.standardOutput = try FileHandle(forWritingTo: URL(filePath: folder.file("printed")))
    process.standardInput = FileHandle.nullDevice
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    return (process.terminationStatus, try String(contentsOfFile: folder.file("printed"), encoding: .utf8))
  }

  private func folder(_ configuration: String) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.document.utf8), to: "shop.xml")
    try folder.write(Array(configuration.utf8), to: "larder-generate.json")
    try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: true)
    return folder
  }

  @Test("the fixed set of files is written, from a document beside the configuration or at an absolute path")
  func files() async throws {
    let relative = try folder(#"{"metadata": "shop.xml", "prefix": "My"}"#)
    let result = try await run(["larder-generate.json", "out", "App+shop"], in: relative)
    #expect(result.status == 0)
    #expect(result.output == "shop.xml: note: notSupported: values of abstract and untyped types (1)\n")
    let names = try FileManager.default.contentsOfDirectory(atPath: relative.file("out")).sorted()
    #expect(names == GeneratedFiles.fixedNames("App+shop"))
    func text(_ folder: TemporaryFolder) throws -> String {
      try names.map { try String(contentsOfFile: folder.file("out/\($0)"), encoding: .utf8) }.joined()
    }
    #expect(try text(relative).contains("struct MyAddress: ODataComplex"))
    let absolute = try folder(#"{"metadata": "\#(relative.file("shop.xml"))", "prefix": "My"}"#)
    try FileManager.default.removeItem(atPath: absolute.file("shop.xml"))
    let path = absolute.file("larder-generate.json")
    #expect(try await run([path, absolute.file("out"), "App+shop"], in: absolute).status == 0)
    #expect(try text(absolute) == text(relative))
  }

  @Test("files that do not change are not written")
  func unchanged() async throws {
    let folder = try folder(#"{"metadata": "shop.xml"}"#)
    #expect(try await run(["larder-generate.json", "out", "shop"], in: folder).status == 0)
    func numbers() throws -> [Int?] {
      try GeneratedFiles.fixedNames("shop").map {
        try FileManager.default.attributesOfItem(atPath: folder.file("out/\($0)"))[.systemFileNumber] as? Int
      }
    }
    let before = try numbers()
    try folder.write(Array(#"{"metadata": "shop.xml", "only": ["Other"]}"#.utf8), to: "larder-generate.json")
    #expect(try await run(["larder-generate.json", "out", "shop"], in: folder).status == 0)
    // A file is replaced by another one, which has another number.
    #expect(try zip(before, numbers()).count { $0 != $1 } == 2)
  }

  @Test(
    "wrong arguments and wrong content are errors that name the file",
    arguments: [
      ([], "{}", "error: usage: LarderGeneratorTool CONFIGURATION FOLDER NAME"),
      (["larder-generate.json", "out"], "{}", "error: usage:"),
      (["missing.json", "out", "shop"], "{}", "missing.json:1: error: the file cannot be read: check that it exists"),
      (
        ["larder-generate.json", "out", "shop"], "{}",
        "larder-generate.json:1: error: larder-generate.json cannot be used"
      ),
      (
        ["larder-generate.json", "out", "shop"], #"{"metadata": "missing.xml"}"#,
        "missing.xml:1: error: the file cannot be read: correct 'metadata' in larder-generate.json"
      ),
      (
        ["larder-generate.json", "nowhere", "shop"], #"{"metadata": "shop.xml"}"#,
        "nowhere/shop-1.generated.swift:1: error: the file cannot be written: check that its folder exists"
      ),
      (
        ["larder-generate.json", "shop.xml", "shop"], #"{"metadata": "shop.xml"}"#,
        "shop.xml/shop-1.generated.swift:1: error: the file cannot be written: check that its folder exists"
      ),
      (
        ["larder-generate.json", "out", "shop"], #"{"metadata": "larder-generate.json"}"#,
        "larder-generate.json:1: error: Metadata cannot be read"
      ),
      (
        ["larder-generate.json", "out", "shop"], #"{"metadata": "shop.xml", "only": ["Ordr"]}"#,
        "larder-generate.json:1: error: No type and no entity set matches 'Ordr'"
      ),
    ])
  func errors(arguments: [String], configuration: String, message: String) async throws {
    let folder = try folder(configuration)
    let result = try await run(arguments, in: folder)
    #expect(result.status == 1)
    #expect(result.output.hasPrefix(message), "\(result.output)")
    #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).isEmpty)
  }
}
