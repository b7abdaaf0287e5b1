import Foundation
import LarderOData

/// Valid texts to begin with.
enum FuzzCorpus {
  /// Those in a folder's `.txt` files, a line each: what it is read as, the version, the text. Lines that begin with `#` say something
  /// to readers.
  static func read(_ folder: URL) throws -> [FuzzCase] {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "txt" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
    return try files.flatMap { file in
      try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
        guard !line.hasPrefix("#") else { return nil }
        guard let item = read(line: line) else { throw Malformed(file: file.lastPathComponent, line: String(line)) }
        return item
      }
    }
  }

  struct Malformed: Error {
    let file: String
    let line: String
  }

  private static func read(line: Substring) -> FuzzCase? {
    let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let entry = FuzzEntry(rawValue: String(parts[0])), let version = versions[parts[1]] else {
      return nil
    }
    return FuzzCase(entry: entry, version: version, text: String(parts[2]))
  }

  private static let versions: [Substring: ODataVersion] = ["2": .v2, "3": .v3, "4.0": .v4, "4.01": .v401]

  /// The test cases of the standard, if they are next to the project; otherwise nil.
  static func grammarCases(_ file: URL) -> [FuzzCase]? {
    struct Case: Decodable {
      let rule: String
      let input: String
      let failAt: Int?
    }
    guard let data = try? Data(contentsOf: file), let all = try? JSONDecoder().decode([Case].self, from: data) else {
      return nil
    }
    let entries: [String: FuzzEntry] = [
      "odataUri": .url, "odataRelativeUri": .relativeURL, "resourcePath": .path, "context": .contextFragment,
      "queryOptions": .queryOptions, "systemQueryOption": .queryOptions, "filter": .queryOptions,
      "expand": .queryOptions,
      "select": .queryOptions, "orderby": .queryOptions, "compute": .queryOptions, "search": .queryOptions,
    ]
    return all.map { item in
      let entry = entries[item.rule] ?? .expression
      let text = entry == .contextFragment ? String(item.input.dropFirst()) : item.input
      return FuzzCase(entry: entry, version: .v401, text: text)
    }
  }
}
