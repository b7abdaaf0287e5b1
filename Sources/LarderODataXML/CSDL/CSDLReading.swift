internal import LarderOData

/// The state while a CSDL document is read: the stack of open elements, and the model so far.
final class CSDLReading: XMLContentHandler {
  var version: ODataVersion?
  var dataServiceVersion: String?
  var maxDataServiceVersion: String?
  var references: [EdmReference] = []
  var schemas: [EdmSchema] = []
  private(set) var diagnostics: [EdmDiagnostic] = []
  private var stack: [CSDLFrame] = []
  private var schemaNamespace: String?

  // MARK: XMLContentHandler

  var wantsText: Bool { stack.last?.wantsText ?? false }

  func start(_ start: XMLElement) throws {
    var element = CSDLElement(start)
    guard let parent = stack.last else { return stack.append(try CSDLDocumentGrammar.root(&element, self)) }
    if !isCSDL(element) {
      if !(parent is SkippedFrame) {
        report(.foreignElement, "\(element.qualifiedName) of \(element.namespace) is not a CSDL element", at: element)
      }
      return stack.append(SkippedFrame(element.name))
    }
    if let frame = parent.child(&element, self) { return stack.append(frame) }
    report(.unknownElement, "\(parent.name) has no element \(element.name); it was ignored", at: element)
    stack.append(SkippedFrame(element.name))
  }

  func end(_ name: XMLName) throws { stack.popLast()?.end(self) }

  func text(_ text: String) throws { stack.last?.text(text) }

  func unexpectedText(line: Int, column: Int) {
    // The parser may deliver one text in several pieces, and ignored elements were reported before.
    guard let frame = stack.last, !(frame is SkippedFrame), !frame.hasStrayText else { return }
    frame.hasStrayText = true
    let place = MetadataLocation(line: line, column: column, path: path)
    diagnostics.append(
      EdmDiagnostic(.unexpectedText, "\(frame.name) has text, which is not allowed here; it was ignored", at: place)
    )
  }

  func warning(_ message: String, line: Int, column: Int) {
    diagnostics.append(
      EdmDiagnostic(.unusualForm, message, at: MetadataLocation(line: line, column: column, path: path)))
  }

  // MARK: Places

  /// The open elements.
  var path: String { stack.map(\.label).joined(separator: "/") }

  func report(_ kind: EdmDiagnostic.Kind, _ message: String, at element: CSDLElement) {
    diagnostics.append(EdmDiagnostic(kind, message, at: location(element)))
  }

  func location(_ element: CSDLElement) -> MetadataLocation {
    let path = stack.isEmpty ? element.name : path + "/" + element.name
    return MetadataLocation(line: element.line, column: element.column, path: path)
  }

  // MARK: Namespaces

  /// Accepts the namespace of the document's schemas as CSDL, whatever it is.
  func enterSchema(_ element: CSDLElement) {
    schemaNamespace = element.namespace
    let version = CSDLNamespace.version(ofSchema: element.namespace)
    if version == nil {
      report(.unusualForm, "\"\(element.namespace)\" is not a known CSDL namespace", at: element)
    }
    if let version, let previous = self.version {
      if previous < .v4, version < .v4 { self.version = max(previous, version) }
    } else {
      self.version = self.version ?? version
    }
  }

  private func isCSDL(_ element: CSDLElement) -> Bool {
    element.namespace.isEmpty || element.namespace == schemaNamespace || CSDLNamespace.isKnown(element.namespace)
      || schemaNamespace == nil && element.name == "Schema"
  }
}

/// The namespaces of CSDL and its wrapper in all versions.
enum CSDLNamespace {
  private static let schemas: [String: ODataVersion] = [
    "http://schemas.microsoft.com/ado/2006/04/edm": .v2,
    "http://schemas.microsoft.com/ado/2007/05/edm": .v2,
    "http://schemas.microsoft.com/ado/2008/01/edm": .v2,
    "http://schemas.microsoft.com/ado/2008/09/edm": .v2,
    "http://schemas.microsoft.com/ado/2009/08/edm": .v2,
    "http://schemas.microsoft.com/ado/2009/11/edm": .v3,
    "http://docs.oasis-open.org/odata/ns/edm": .v4,
  ]

  static func isKnown(_ namespace: String) -> Bool { schemas[namespace] != nil || isWrapper(namespace) }

  /// The OData version that a schema's namespace belongs to; Microsoft's namespaces after 2009 are V3.
  static func version(ofSchema namespace: String) -> ODataVersion? {
    if let version = schemas[namespace] { return version }
    guard namespace.hasPrefix("http://schemas.microsoft.com/ado/"), namespace.hasSuffix("/edm") else { return nil }
    return .v3
  }

  static func isWrapper(_ namespace: String) -> Bool {
    namespace == "http://docs.oasis-open.org/odata/ns/edmx"
      || namespace.hasPrefix("http://schemas.microsoft.com/ado/") && namespace.hasSuffix("/edmx")
  }
}
