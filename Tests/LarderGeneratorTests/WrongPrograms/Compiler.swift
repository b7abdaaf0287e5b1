import Foundation
import LarderTestSupport

/// The compiler of the toolchain on files that use the modules of this build as an application does: they see what is
/// public.
struct Compiler {
  /// What the compiler says about one place.
  struct Diagnostic: Sendable {
    /// The name of the file.
    let file: String
    /// `error` or `warning`.
    let kind: String
    /// The message, and below it its notes.
    var text: String
  }

  /// The compiler checked no file.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let folder: TemporaryFolder
  private let modules: URL

  init() throws {
    folder = try TemporaryFolder()
    modules = try Compiler.modules()
    // The XML reader's module names the C library that it uses inside; no program sees it.
    try folder.write(Array("module CLarderXML2 {}\n".utf8), to: "module.modulemap")
  }

  /// Checks the types in files, which are given by their names, as one module.
  func check(_ files: [String: String], options: [String] = []) async throws -> [Diagnostic] {
    let paths = try files.map { try folder.write(Array($0.value.utf8), to: $0.key) }
    let text = try await run(
      ["-typecheck", "-wmo", "-parse-as-library", "-swift-version", "6", "-module-name", "Application"]
        + ["-I", folder.path, "-I", modules.path(percentEncoded: false)] + options + paths.sorted())
    return try Compiler.diagnostics(in: text)
  }

  /// The diagnostics in the compiler's output, as `FILE:LINE:COLUMN: error: MESSAGE`. An error without a place, such as
  /// a module that is missing, means that no file was checked.
  static func diagnostics(in text: String) throws -> [Diagnostic] {
    var diagnostics: [Diagnostic] = []
    for line in text.split(separator: "\n") {
      if let match = line.wholeMatch(of: #/(/.+):\d+:\d+: (error|warning|note): (.*)/#) {
        if match.2 == "note", !diagnostics.isEmpty {
          diagnostics[diagnostics.count - 1].text += "\n" + match.3
        } else {
          let file = URL(filePath: String(match.1)).lastPathComponent
          diagnostics.append(Diagnostic(file: file, kind: String(match.2), text: String(match.3)))
        }
      } else if line.contains(#/^(<unknown>:0: |[\w-]+: )?(fatal )?error: /#) {
        throw Failure(description: text)
      }
    }
    return diagnostics
  }

  private func run(_ arguments: [String]) async throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swiftc"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let output = URL(filePath: try folder.write([], to: "output"))
    process.standardError = try FileHandle(forWritingTo: output)
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    let text = try String(contentsOf: output, encoding: .utf8)
    guard process.terminationReason == .exit, [0, 1].contains(process.terminationStatus) else {
      throw Failure(description: "the compiler ended with \(process.terminationStatus):\n\(text)")
    }
    return text
  }

  /// The folder with the modules that these tests are linked with.
  private static func modules() throws -> URL {
    #if os(Linux)
      let tests =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    #else
      // On Apple platforms another program loads the tests, which are in a bundle.
      let tests = Bundle.allBundles.map(\.bundlePath).first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    #endif
    var folder = URL(filePath: tests)
    while folder.pathComponents.count > 1 {
      folder.deleteLastPathComponent()
      let modules = folder.appending(path: "Modules")
      let module = modules.appending(path: "LarderService.swiftmodule").path(percentEncoded: false)
      if FileManager.default.fileExists(atPath: module) { return modules }
    }
    throw Failure(description: "no modules beside \(tests)")
  }
}
