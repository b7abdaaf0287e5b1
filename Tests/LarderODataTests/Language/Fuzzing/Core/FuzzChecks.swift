import LarderOData

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// What must hold of every text and every tree.
enum FuzzChecks {
  /// Seconds that this thread has computed.
  static func processorTime() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
  }

  /// The time limit for reading and printing a text twice: a constant, and a time for each byte.
  static func timeLimit(_ text: String) -> Double { 0.05 + 60e-6 * Double(text.utf8.count) }

  /// The time limit for a case, which may read its text by every rule.
  private static func timeLimit(_ item: FuzzCase) -> Double {
    timeLimit(item.text) * (item.entry == .everyRule ? Double(ODataGrammarRule.all.count) : 1)
  }

  /// Checks how a text is read; returns the problem, or nil.
  ///
  /// The error of a rejected text has a position inside it. An accepted text prints, and its printed form is read as the same tree.
  static func complaint(_ item: FuzzCase) -> String? {
    let start = processorTime()
    let complaint = reading(item)
    guard complaint == nil else { return complaint }
    let limit = timeLimit(item)
    var spent = processorTime() - start
    // The first reading may have warmed tables.
    for _ in 0..<2 where spent > limit {
      let start = processorTime()
      _ = reading(item)
      spent = min(spent, processorTime() - start)
    }
    return spent > limit ? "takes \(spent) s for \(item.text.utf8.count) bytes" : nil
  }

  private static func reading(_ item: FuzzCase) -> String? {
    if let error = item.entry.rejection(item.text, item.version) {
      let isInside = error.offset >= 0 && error.offset <= item.text.utf8.count
      return isInside && !"\(error)".isEmpty ? nil : "is rejected at \(error.offset), which is no place of it"
    }
    return item.entry.complaint(item.text, item.version)
  }

  /// Checks the tree of a text: it must print and read back equal, and the text of a strict printer must print the same again.
  /// Returns the problem, or nil.
  static func complaint<Tree: Equatable>(
    ofRead tree: Tree, _ version: ODataVersion,
    print: (ODataPrinter, Tree) throws(ODataPrintingError) -> String,
    parse: (String) throws(ODataSyntaxError) -> Tree
  ) -> String? {
    // A strict printer has no suffix for V4's numbers, which parsers read.
    for isStrict in [false, true] {
      let printer = ODataPrinter(version: version, isStrict: isStrict)
      let printed: String
      do throws(ODataPrintingError) {
        printed = try print(printer, tree)
      } catch {
        // Parsers of old versions accept some later features.
        if case .notInDialect = error.problem { return nil }
        return "is taken but does not print: \(error)"
      }
      let again: Tree
      do throws(ODataSyntaxError) {
        again = try parse(printed)
      } catch {
        return "prints as a text that is rejected: \(printed)\n  \(error)"
      }
      // NaN equals nothing, itself included.
      guard isStrict || again == tree || printed.contains("NaN") else {
        return "prints as \(printed), which is another tree: \(difference("\(tree)", "\(again)"))"
      }
      let twice = try? print(printer, again)
      guard twice == printed else { return "prints as \(printed), which prints as \(twice ?? "nothing")" }
    }
    return nil
  }

  /// Checks a generated tree: it must print and read back equal. Returns the problem, or nil. A tree with a name that is not
  /// allowed in its position is skipped.
  static func complaint<Tree: Equatable>(
    _ tree: Tree, print: (Tree) throws(ODataPrintingError) -> String,
    parse: (String) throws(ODataSyntaxError) -> Tree
  ) -> (what: String, text: String)? {
    let text: String
    do {
      text = try print(tree)
    } catch {
      if case .ambiguousName = error.problem { return nil }
      return ("a tree does not print: \(error)", "\(tree)")
    }
    do {
      let again = try parse(text)
      if again == tree { return nil }
      return ("a tree reads back as another: \(difference("\(tree)", "\(again)"))", text)
    } catch {
      return ("what a tree prints as is rejected: \(error)", text)
    }
  }

  /// Where two descriptions begin to differ, without the positions of nodes.
  private static func difference(_ one: String, _ other: String) -> String {
    func plain(_ text: String) -> [Character] {
      Array(text.replacing(/, position: [-0-9]+/, with: "").replacing(/OData\.[A-Za-z.]*\.?/, with: ""))
    }
    let (left, right) = (plain(one), plain(other))
    let same = zip(left, right).prefix { $0 == $1 }.count
    let start = max(0, same - 80)
    return "\(String(left[start...].prefix(300)))\n  is read as \(String(right[start...].prefix(300)))"
  }
}
