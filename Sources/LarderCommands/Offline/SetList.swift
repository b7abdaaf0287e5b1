internal import LarderOData
internal import LarderOffline
internal import LarderService

/// The list of sets and singletons of a service from which the user chooses.
struct SetList: Sendable {
  private let sources: [ServiceQueries.Source]
  private let counts: [String: Int64]
  private var names: [String] { sources.map(\.name) }

  init(_ sources: [ServiceQueries.Source], _ counts: [String: Int64]) {
    (self.sources, self.counts) = (sources, counts)
  }

  // MARK: Counting

  /// The time limits for one count, and for all of them.
  private static let limits = (one: Duration.seconds(10), all: Duration.seconds(20))

  /// The number of entities of each set. Several are requested concurrently, each with a time limit. Sets without a
  /// count are missing.
  static func counts(_ sources: [ServiceQueries.Source], _ access: OfflineAccess) async -> [String: Int64] {
    let connection = try? access.conversation { options in
      options.timeouts.total = min(options.timeouts.total ?? limits.one, limits.one)
    }
    guard let (conversation, parallel) = connection else { return [:] }
    let end = ContinuousClock.now + limits.all
    var names = sources.filter(\.isSet).map(\.name)[...]
    return await withTaskGroup(of: (String, Int64?).self) { group in
      var counts: [String: Int64] = [:]
      func next() {
        guard let name = names.popFirst(), !Task.isCancelled, ContinuousClock.now < end else { return }
        group.addTask { (name, await count(name, conversation)) }
      }
      for _ in 0..<parallel { next() }
      while let (name, count) = await group.next() {
        counts[name] = count
        next()
      }
      return counts
    }
  }

  private static func count(_ name: String, _ conversation: ODataConversation) async -> Int64? {
    let response = try? await conversation.send(ODataSingleRequest(.read, name + "/$count", useCache: false))
    guard case .count(let count)? = try? response?.payload() else { return nil }
    return count
  }

  // MARK: Prompting

  /// Lists the sets and asks until the input can be understood; returns the chosen names.
  func chooseSets(_ service: String, _ context: CommandContext) async throws -> [String] {
    try Task.checkCancellation()
    context.note("\(TerminalText.line(service)) has:")
    for line in lines { context.note(line) }
    guard case .descriptor(let descriptor) = try context.input.take() else { throw Self.noChoice }
    let reader: InputReader
    do throws(FileError.Reason) { reader = try InputReader(InputDescriptor(borrowing: descriptor)) } catch {
      throw FileError(path: "standard input", reason: error.text)
    }
    while true {
      try? context.diagnostics.write("Copy which sets? Numbers (1 3-5), names, or all: ")
      guard let input = try await Self.line(reader) else {
        context.note("")
        throw Self.noChoice
      }
      switch chosen(input) {
      case .success(let names): return names
      case .failure(let complaint): context.note(TerminalText.line(complaint.text))
      }
    }
  }

  private static let noChoice = CommandFailure(.usage, "no sets were chosen", hint: "Use --query SET, or --all.")

  private static func line(_ reader: InputReader) async throws -> String? {
    var bytes: [UInt8] = []
    do {
      while !bytes.contains(0x0A) {
        guard bytes.count < 1 << 16, let more = try await reader.next() else { return nil }
        bytes += more
      }
    } catch let error as FileError.Reason { throw FileError(path: "standard input", reason: error.text) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// One line for each set: its number, its name, and its number of entities.
  var lines: [String] {
    let shown = sources.map { TerminalText.line($0.name) }
    let counts = sources.map { source in
      source.isSet ? self.counts[source.name].map { "\($0)" } ?? "?" : "one entity"
    }
    let widths = (Columns.width(sources.indices.map { "\($0 + 1)" }), Columns.width(shown), Columns.width(counts))
    return sources.indices.map { index in
      "  " + Columns.padLeft("\(index + 1)", widths.0) + "  " + Columns.pad(shown[index], widths.1) + "  "
        + Columns.padLeft(counts[index], widths.2)
    }
  }

  /// Why the input cannot be understood.
  struct Complaint: Error, Hashable {
    let text: String
  }

  /// The names that the input chooses: numbers and ranges of numbers, names in any case, or `all`, separated by spaces
  /// or commas.
  func chosen(_ input: String) -> Result<[String], Complaint> {
    var chosen: [String] = []
    for word in input.split(whereSeparator: { $0.isWhitespace || $0 == "," }).map(String.init) {
      guard let matchingNames = matches(word) else {
        let hint = Suggestion.hint(for: word, among: names).map { " " + $0 } ?? ""
        return .failure(
          Complaint(text: "There is no '\(word)': enter numbers from 1 to \(sources.count), names, or all." + hint))
      }
      for name in matchingNames where !chosen.contains(name) { chosen.append(name) }
    }
    return chosen.isEmpty ? .failure(Complaint(text: "Enter at least one.")) : .success(chosen)
  }

  private func matches(_ word: String) -> [String]? {
    if names.contains(word) { return [word] }
    if word == "all" { return names }
    let ends = word.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map { Int($0) }
    if let first = ends.first ?? nil, let last = ends.last ?? nil {
      guard first >= 1, first <= last, last <= names.count else { return nil }
      return Array(names[(first - 1)..<last])
    }
    let equalNames = names.filter { $0.lowercased() == word.lowercased() }
    return equalNames.count == 1 ? equalNames : nil
  }
}
