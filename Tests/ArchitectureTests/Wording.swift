/// Texts that belong to one machine, not to the project. They are put together here so that this file is clean itself.
enum Wording {
  static let forbidden = [
    "/" + "work/", "/" + "tmp/pv", "/" + "tmp/brief", "/" + "root/", "/" + "home/", "/" + "Users/", "work" + "tree",
    "/" + "opt/wheels",
  ]

  static func violations(in file: SourceFile) -> [String] {
    let words = file.occurring(forbidden)
    guard !words.isEmpty else { return [] }
    return file.lines.enumerated().flatMap { index, line in
      words.filter(line.contains).map { "\(file.path):\(index + 1): '\($0)'" }
    }
  }
}
