/// A name in XML with its namespace.
struct XMLName: Hashable, Sendable {
  /// The namespace's URI; empty where the name is in none.
  var namespace: String
  /// The prefix as written; empty where there is none.
  var prefix: String
  /// The name without prefix.
  var local: String

  /// The name as written.
  var qualified: String { prefix.isEmpty ? local : prefix + ":" + local }
}

/// An attribute.
struct XMLAttribute: Sendable {
  var name: XMLName
  var value: String
}

/// The start of an element.
struct XMLElement: Sendable {
  var name: XMLName
  var attributes: [XMLAttribute]
  /// The line of the tag's end, from 1.
  var line: Int
  /// The column of the tag's end, from 1.
  var column: Int

  /// The value of an attribute; nil where it is absent.
  func attribute(_ local: String, namespace: String = "") -> String? {
    attributes.first { $0.name.local == local && $0.name.namespace == namespace }?.value
  }
}

/// Takes the events of a document in their order. What it throws ends the parsing.
protocol XMLContentHandler: AnyObject {
  /// Whether text at this place matters; where it does not, none is delivered.
  var wantsText: Bool { get }
  /// An element begins.
  func start(_ element: XMLElement) throws
  /// The innermost element ends.
  func end(_ name: XMLName) throws
  /// Text; one run may come in several pieces.
  func text(_ text: String) throws
  /// Text that is more than white space, where none is wanted.
  func strayText(line: Int, column: Int)
  /// Something odd that does not keep the document from being read.
  func oddity(_ message: String, line: Int, column: Int)
}

extension XMLContentHandler {
  /// Passes it over.
  func strayText(line: Int, column: Int) {}
}

/// Why a document cannot be read as XML.
struct XMLFailure: Error, Sendable {
  enum Reason: Sendable {
    case empty
    case malformed
    case truncated
    case documentType(name: String)
    case tooDeep(limit: Int)
    case tooLong(limit: Int)
    case tokenTooLong(limit: Int)
    case encoding
  }

  var reason: Reason
  var message: String
  var line: Int
  var column: Int
}

/// Bounds on a document.
struct XMLLimits: Sendable {
  /// Bytes of the whole document.
  var documentLength: Int
  /// Bytes of one tag, comment or processing instruction.
  var tokenLength: Int
  /// Nested elements.
  var depth: Int
}
