import Foundation
import LarderTestSupport

/// A text file of the project, as the gates read it.
struct SourceFile: Sendable {
  /// Its path below the package's folder.
  let path: String
  /// Its content.
  let text: String
  /// The content with comments and strings blanked; empty if it is not Swift.
  let code: String

  init(path: String, text: String) {
    self.path = path
    self.text = text
    code = path.hasSuffix(".swift") ? SwiftText(text).code : ""
  }

  /// The lines of ``code``.
  var codeLines: [Substring] { code.split(separator: "\n", omittingEmptySubsequences: false) }

  /// Its lines, empty ones included.
  var lines: [Substring] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  /// Those of the words that occur anywhere in the text. Most files contain none, and need no look at each line: in a debug
  /// build that takes minutes for all files.
  func occurring(_ words: [String]) -> [String] {
    text.withCString { start in
      // The search ends at the first NUL, so a text that contains one is looked at line by line.
      strlen(start) < text.utf8.count ? words : words.filter { strstr(start, $0) != nil }
    }
  }

  /// The target it belongs to: the folder below `Sources` or `Tests`.
  var target: String? {
    let parts = path.split(separator: "/")
    guard parts.count > 2, parts[0] == "Sources" || parts[0] == "Tests" else { return nil }
    return String(parts[1])
  }

  /// The project's text files below these folders (or the named files themselves), sorted by path.
  ///
  /// Hidden folders (`.build`, `.venv`) are left out, and what is not UTF-8.
  static func all(below places: [String], extensions: Set<String>? = nil) -> [SourceFile] {
    var files: [SourceFile] = []
    for place in places {
      let start = PackageRoot.folder.appending(path: place)
      let inside = FileManager.default.enumerator(
        at: start, includingPropertiesForKeys: [.isRegularFileKey], options: [.skipsHiddenFiles])
      var urls = inside?.compactMap { $0 as? URL } ?? []
      if urls.isEmpty { urls = [start] }
      for url in urls where !url.pathComponents.contains("__pycache__") {
        if let extensions, !extensions.contains(url.pathExtension) { continue }
        guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
        let root = PackageRoot.folder.standardizedFileURL.path(percentEncoded: false)
        let path = url.standardizedFileURL.path(percentEncoded: false).dropFirst(root.count)
        files.append(SourceFile(path: path.hasPrefix("/") ? String(path.dropFirst()) : String(path), text: text))
      }
    }
    return files.sorted { $0.path < $1.path }
  }

  /// The Swift files of the library and the command line.
  static let sources = all(below: ["Sources"], extensions: ["swift"])
  /// The Swift files of the tests.
  static let tests = all(below: ["Tests"], extensions: ["swift"])
}
