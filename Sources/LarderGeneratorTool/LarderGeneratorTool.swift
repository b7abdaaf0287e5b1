// What the build plugin runs:
//
// 1. reads a configuration, `larder-generate.json`, and the metadata document that it names,
// 2. writes the fixed set of files, those that differ.

import LarderGenerator
import LarderOData
import LarderODataXML

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What the build plugin runs: reads a configuration and its metadata document, and writes the fixed set of files.
///
/// Arguments: the path of `larder-generate.json`, the folder for the files, and the beginning of their names.
@main
enum LarderGeneratorTool {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else { fail("error: usage: LarderGeneratorTool CONFIGURATION FOLDER NAME") }
    let (configuration, folder, name) = (arguments[1], arguments[2], arguments[3])
    do {
      let settings = try GeneratorConfiguration(
        bytes(configuration, cure: "check that it exists and that you may read it"))
      let document = beside(configuration, settings.metadata)
      let model: EdmModel
      do throws(MetadataError) {
        model = try EdmModel.read(
          bytes(document, cure: "correct 'metadata' in \(configuration), or save the document there"))
      } catch {
        fail("\(document):1: error: \(error)")
      }
      let generated = try SwiftGenerator.generate(model, options: settings.options)
      for file in generated.fixed(name) { write(file.text, folder + "/" + file.name) }
      for reason in Omission.Reason.allCases {
        let count = generated.omissions.count { $0.reason == reason }
        if count > 0 { print("\(document): note: notSupported: \(reason.rawValue) (\(count))") }
      }
    } catch {
      fail("\(configuration):1: error: \(error)")
    }
  }

  private static func bytes(_ path: String, cure: String) -> [UInt8] {
    guard let content = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
      fail("\(path):1: error: the file cannot be read: \(cure)")
    }
    return Array(content)
  }

  private static func beside(_ file: String, _ path: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    return String(file[..<(file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex)]) + path
  }

  /// Writes a file only if it differs, so that the compiler need not read it again.
  private static func write(_ text: String, _ path: String) {
    let url = URL(fileURLWithPath: path)
    guard (try? Data(contentsOf: url)) != Data(text.utf8) else { return }
    do { try Data(text.utf8).write(to: url, options: .atomic) } catch {
      fail(
        "\(path):1: error: the file cannot be written: check that its folder exists, that you may write there, "
          + "and that the disk is not full")
    }
  }

  private static func fail(_ message: String) -> Never {
    print(message)
    exit(1)
  }
}
