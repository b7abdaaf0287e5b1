import Foundation

/// The maps a newcomer reads: `docs/map.md` for the whole, one file named after each target for its inside.
enum Map {
  /// Paths in backticks that do not exist.
  static func missingPaths(in text: String, exists: (String) -> Bool) -> [String] {
    text.matches(of: #/`([\w.+$@-]+(?:\/[\w.+$@-]*)+)`/#).map { String($0.1) }.filter { !exists($0) }
  }

  /// What is wrong with a target's map: the file `Sources/Target/Target.swift` that begins with numbered stages.
  static func problem(target: String, text: String?) -> String? {
    guard let text else { return "Sources/\(target)/\(target).swift is missing" }
    // A file of one line marks a target that is still empty: it has no stages yet.
    if text.split(separator: "\n").count < 2 { return nil }
    let comment = text.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("//") }
    let stages = comment.filter { $0.contains(#/^\/\/\/? {0,3}\d+\. /#) }
    return stages.count < 2 ? "Sources/\(target)/\(target).swift does not begin with a comment of numbered stages" : nil
  }
}
