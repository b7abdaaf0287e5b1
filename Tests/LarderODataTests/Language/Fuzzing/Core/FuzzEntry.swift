import LarderOData

/// What a text is read as.
enum FuzzEntry: String, CaseIterable, Sendable {
  case url, relativeURL, path, queryOptions, expression, orderBy, select, expand, compute, search, apply,
    contextFragment
  /// Headers and their parts, which do not print.
  case header, preference, annotationsList
  /// Every rule of the grammar by itself; none prints.
  case everyRule

  /// The rules that read what does not print.
  private var rules: [ODataGrammarRule] {
    self == .everyRule ? ODataGrammarRule.all : ODataGrammarRule(rawValue).map { [$0] } ?? []
  }

  /// Checks that the tree of a text prints and reads back. Returns the problem; nil if there is none, or if the text is
  /// rejected.
  func complaint(_ text: String, _ version: ODataVersion) -> String? {
    let parser = ODataParser(version)
    typealias Rejection = ODataSyntaxError
    typealias Unprinted = ODataPrintingError
    func check<Tree: Equatable>(
      _ parse: (String) throws(Rejection) -> Tree, _ print: (ODataPrinter, Tree) throws(Unprinted) -> String
    ) -> String? {
      guard let tree = try? parse(text) else { return nil }
      return FuzzChecks.complaint(ofRead: tree, version, print: print, parse: parse)
    }
    switch self {
    case .url:
      return check(
        { text throws(Rejection) in try parser.url(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) }
      )
    case .relativeURL:
      return check(
        { text throws(Rejection) in try parser.relativeURL(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .path:
      return check(
        { text throws(Rejection) in try parser.path(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .queryOptions:
      return check(
        { text throws(Rejection) in try parser.queryOptions(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) }
      )
    case .expression:
      return check(
        { text throws(Rejection) in try parser.expression(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .orderBy:
      return check(
        { text throws(Rejection) in try parser.orderBy(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .select:
      return check(
        { text throws(Rejection) in try parser.select(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .expand:
      return check(
        { text throws(Rejection) in try parser.expand(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .compute:
      return check(
        { text throws(Rejection) in try parser.compute(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .search:
      return check(
        { text throws(Rejection) in try parser.search(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .apply:
      return check(
        { text throws(Rejection) in try parser.apply(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .contextFragment:
      return check(
        { text throws(Rejection) in try parser.contextFragment(text) },
        { printer, tree throws(Unprinted) in try printer.print(tree) })
    case .header, .preference, .annotationsList, .everyRule: return nil
    }
  }

  /// Reads a text and discards the tree; returns the error if it is rejected.
  func rejection(_ text: String, _ version: ODataVersion) -> ODataSyntaxError? {
    let parser = ODataParser(version)
    do throws(ODataSyntaxError) {
      switch self {
      case .url: _ = try parser.url(text)
      case .relativeURL: _ = try parser.relativeURL(text)
      case .path: _ = try parser.path(text)
      case .queryOptions: _ = try parser.queryOptions(text)
      case .expression: _ = try parser.expression(text)
      case .orderBy: _ = try parser.orderBy(text)
      case .select: _ = try parser.select(text)
      case .expand: _ = try parser.expand(text)
      case .compute: _ = try parser.compute(text)
      case .search: _ = try parser.search(text)
      case .apply: _ = try parser.apply(text)
      case .contextFragment: _ = try parser.contextFragment(text)
      case .header, .preference, .annotationsList:
        for rule in rules { _ = try rule.parse(text, options: parser.options) }
      case .everyRule: return rejectionElsewhere(text, parser.options)
      }
      return nil
    } catch {
      return error
    }
  }
}

extension FuzzEntry {
  /// The error of a rule that rejects a text at a position outside it; nil if none does.
  private func rejectionElsewhere(_ text: String, _ options: ODataParserOptions) -> ODataSyntaxError? {
    for rule in rules {
      do throws(ODataSyntaxError) { _ = try rule.parse(text, options: options) } catch {
        if error.offset < 0 || error.offset > text.utf8.count { return error }
      }
    }
    return nil
  }
}

/// A text with what it is read as.
struct FuzzCase: Sendable {
  var entry: FuzzEntry
  var version: ODataVersion
  var text: String
}

/// What a fuzzer found.
struct FuzzFailure: Sendable, CustomStringConvertible {
  /// What should not be.
  var what: String
  var entry: FuzzEntry
  var version: ODataVersion
  var text: String
  /// A run with this seed meets it first.
  var seed: UInt64

  var description: String {
    "\(what)\n  \(entry.rawValue), \(version), seed \(seed):\n  \(text.prefix(2000).debugDescription)"
  }
}
