import Foundation

/// The pages of the modules in `docs/Larder.docc`: each lists the symbols of its module by task.
enum ModulePages {
  /// The kinds of symbols in `docs/public-api.txt` that are types.
  private static let kinds: Set = ["class", "enum", "protocol", "struct", "typealias"]

  /// The types of each module that are in no other type, from the lines of `docs/public-api.txt`.
  static func types(in list: String) -> [String: Set<String>] {
    var types: [String: Set<String>] = [:]
    for line in list.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      guard words.count == 3, kinds.contains(words[1]), !words[2].contains(".") else { continue }
      types[words[0], default: []].insert(words[2])
    }
    return types
  }

  /// The symbols that the topics of a page list.
  static func topics(of page: String) -> Set<String> {
    let topics = page.components(separatedBy: "\n## Topics\n").dropFirst().joined()
    return Set(topics.matches(of: #/^- ``(.+)``$/#.anchorsMatchLineEndings()).map { String($0.1) })
  }
}
