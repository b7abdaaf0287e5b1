/// An XML name with its namespace.
struct XMLName: Hashable, Sendable {
  /// The namespace's URI; empty if the name has no namespace.
  var namespace: String
  /// The prefix as written; empty if there is none.
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

  /// The value of an attribute; nil if it is absent.
  func attribute(_ local: String, namespace: String = "") -> String? {
    attributes.first { $0.name.local == local && $0.name.namespace == namespace }?.value
  }
}

/// Receives the events of a document in their order. An error that it throws ends parsing.
protocol XMLContentHandler: AnyObject {
  /// Whether text in the current element matters; if not, none is delivered.
  var wantsText: Bool { get }
  /// An element begins.
  func start(_ element: XMLElement) throws
  /// The innermost element ends.
  func end(_ name: XMLName) throws
  /// Text; one text may be delivered in several pieces.
  func text(_ text: String) throws
  /// Text other than white space where no text is wanted.
  func unexpectedText(line: Int, column: Int)
  /// A problem that does not make the document unreadable.
  func warning(_ message: String, line: Int, column: Int)
}

extension XMLContentHandler {
  /// Ignores the text.
  func unexpectedText(line: Int, column: Int) {}
}

/// The reason why a document cannot be read as XML.
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

/// Limits on a document.
struct XMLLimits: Sendable {
  /// The bytes of the whole document.
  var documentByteLimit: Int
  /// The bytes of one tag, comment or processing instruction.
  var tokenByteLimit: Int
  /// The depth of nested elements.
  var depth: Int
}
