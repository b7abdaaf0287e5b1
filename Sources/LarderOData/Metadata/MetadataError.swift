public import LarderCore

/// A position in a metadata document.
public struct MetadataLocation: Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1; nil if only the path is known.
  public var line: Int?
  /// The column, from 1; nil if only the path is known.
  public var column: Int?
  /// The elements from the root, with names: `Edmx/DataServices/Schema[NS]/EntityType[Product]`; in JSON a pointer.
  public var path: String

  /// Creates a position.
  package init(line: Int? = nil, column: Int? = nil, path: String) {
    self.line = line
    self.column = column
    self.path = path
  }

  /// `line 3, column 14, in Edmx/…`.
  public var description: String {
    var parts: [String] = []
    if let line { parts.append("line \(line)") }
    if let column { parts.append("column \(column)") }
    if !path.isEmpty { parts.append("in \(path)") }
    return parts.joined(separator: ", ")
  }
}

/// The error of a metadata document that could not be read.
public struct MetadataError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of failures.
  package enum Reason: Sendable, Hashable {
    /// The document has no content.
    case empty
    /// It is another document: an HTML page, a service document, an error.
    case notMetadata
    /// The document is not well-formed XML or JSON.
    case malformed
    /// The document ends too early.
    case truncated
    /// It has a document type declaration, which is rejected (CSDL needs none, and entities allow attacks).
    case documentTypeRejected
    /// The document is nested deeper than ``MetadataLimits/depth``, or more than 100 types derive from each other.
    case tooDeep
    /// The document, or one part of it, is longer than ``MetadataLimits`` allow.
    case tooLarge
    /// The document has a version or encoding that this library does not read.
    case notSupported
  }

  /// The kind of failure.
  package var reason: Reason
  /// What was found, in one sentence.
  public var message: String
  /// The cure: what can be done about it.
  public var cure: String
  /// The position of the problem.
  public var location: MetadataLocation

  /// Creates an error.
  package init(_ reason: Reason, _ message: String, cure: String, at location: MetadataLocation) {
    self.reason = reason
    self.message = message
    self.cure = cure
    self.location = location
  }

  /// Message, position and cure.
  public var description: String { explanation.description }
}

/// Limits on a metadata document, as protection against hostile content.
public struct MetadataLimits: Sendable, Hashable {
  /// The longest document, in bytes.
  public var documentByteLimit: Int
  /// The longest tag, comment or text, in bytes.
  public var tokenByteLimit: Int
  /// The depth of nested elements or JSON values; at most 128, which fits the smallest thread stacks.
  public var depthLimit: Int

  /// Creates limits; by default 256 MB, 8 MB, 100 levels.
  public init(documentByteLimit: Int = 256 << 20, tokenByteLimit: Int = 8 << 20, depthLimit: Int = 100) {
    self.documentByteLimit = documentByteLimit
    self.tokenByteLimit = tokenByteLimit
    self.depthLimit = min(depthLimit, 128)
  }
}

/// A problem in a document that did not prevent reading it.
public struct EdmDiagnostic: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of problems.
  package enum Kind: String, Sendable, Hashable {
    /// An element that CSDL does not allow here; it and its content were skipped.
    case unknownElement
    /// An element of another namespace; skipped.
    case foreignElement
    /// An attribute that CSDL does not allow here; kept among the foreign attributes.
    case unknownAttribute
    /// A required attribute is missing; the element was skipped or completed as the message says.
    case missingAttribute
    /// A value that the attribute does not allow; it was left out.
    case invalidValue
    /// Text where CSDL allows only elements; it was ignored.
    case unexpectedText
    /// A name that is not declared in the document.
    case unresolvedName
    /// A second declaration of a name; look-ups return the first.
    case duplicateName
    /// A type that derives from itself; its base type is ignored.
    case circularBaseType
    /// A type that derives from more than 100 others. Such a document is rejected. In a model created from schemas, the
    /// type is treated as if it had no base type.
    case tooManyBaseTypes
    /// An unusual form of the document: no wrapper, white space before the start, an undeclared prefix.
    case unusualForm
  }

  /// The kind of problem.
  package var kind: Kind
  /// What was found, in one sentence.
  public var message: String
  /// The position of the problem.
  public var location: MetadataLocation

  /// Creates a diagnostic.
  package init(_ kind: Kind, _ message: String, at location: MetadataLocation) {
    self.kind = kind
    self.message = message
    self.location = location
  }

  /// Message and position.
  public var description: String { "\(kind.rawValue): \(message) (\(location))" }
}

extension MetadataError: LarderError {
  /// The stable number, from 1 in the order of the reasons.
  public var errorIdentity: ErrorIdentity {
    switch reason {
    case .empty: ErrorIdentity(1, "empty", .invalidData)
    case .notMetadata: ErrorIdentity(2, "notMetadata", .invalidData)
    case .malformed: ErrorIdentity(3, "malformed", .invalidData)
    case .truncated: ErrorIdentity(4, "truncated", .invalidData)
    case .documentTypeRejected: ErrorIdentity(5, "documentTypeRejected", .invalidData)
    case .tooDeep: ErrorIdentity(6, "tooDeep", .limit)
    case .tooLarge: ErrorIdentity(7, "tooLarge", .limit)
    case .notSupported: ErrorIdentity(8, "notSupported", .notSupported)
    }
  }

  /// Message, position and cure.
  public var explanation: ErrorExplanation {
    let place = location.description
    return ErrorExplanation(
      "Metadata cannot be read: \(ErrorExplanation.clause(message))\(place.isEmpty ? "" : " (\(place))")", cure: cure)
  }
}
