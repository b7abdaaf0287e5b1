internal import LarderOData

/// An open element of a CSDL document. The reader keeps the open elements in a stack; each knows the children it
/// allows.
class CSDLFrame {
  /// The element's name. Together with the identity, it names the element in messages.
  let name: String
  let identity: String?
  /// Whether text was found where none is allowed.
  var hasStrayText = false

  init(_ name: String, _ identity: String? = nil) {
    self.name = name
    self.identity = identity
  }

  /// `EntityType[Product]`
  var label: String { identity.map { "\(name)[\($0)]" } ?? name }
  var wantsText: Bool { false }

  /// Returns the frame of a child; nil if the language does not allow that child here.
  func child(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame? { nil }
  func text(_ text: String) {}
  func end(_ reading: CSDLReading) {}
}

/// An element whose content is ignored. If it deserves a diagnostic, that was reported before.
final class SkippedFrame: CSDLFrame {
  override func child(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame? { SkippedFrame(element.name) }
}

/// An element that only groups others.
final class BracketFrame: CSDLFrame {
  typealias Grammar = (inout CSDLElement, CSDLReading) -> CSDLFrame?
  private let grammar: Grammar

  init(_ name: String, _ grammar: @escaping Grammar = { _, _ in nil }) {
    self.grammar = grammar
    super.init(name)
  }

  override func child(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame? { grammar(&element, reading) }
}

/// An element that contains text.
final class TextFrame: CSDLFrame {
  private var content = ""
  private let deliver: (String) -> Void

  init(_ name: String, deliver: @escaping (String) -> Void) {
    self.deliver = deliver
    super.init(name)
  }

  override var wantsText: Bool { true }
  override func text(_ text: String) { content += text }
  override func end(_ reading: CSDLReading) { deliver(content) }
}

/// Reads an element of the model. Annotations and documentation are read here, other children by the element's grammar.
final class ElementFrame<Element: EdmAnnotatable>: CSDLFrame {
  typealias Grammar = (inout CSDLElement, ElementFrame<Element>, CSDLReading) -> CSDLFrame?
  var element: Element
  private let grammar: Grammar
  private let deliver: (Element) -> Void

  /// - Parameters:
  ///   - grammar: returns the frame of a child.
  ///   - deliver: receives the element at its end.
  init(
    _ name: String, _ identity: String? = nil, _ element: Element,
    grammar: @escaping Grammar = { _, _, _ in nil }, deliver: @escaping (Element) -> Void
  ) {
    self.element = element
    self.grammar = grammar
    self.deliver = deliver
    super.init(name, identity)
  }

  override func child(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame? {
    switch element.name {
    case "Annotation", "ValueAnnotation", "TypeAnnotation":
      return AnnotationGrammar.annotation(&element, reading) { self.element.annotations.append($0) }
    case "Documentation":
      return documentation(reading)
    default:
      return grammar(&element, self, reading)
    }
  }

  override func end(_ reading: CSDLReading) { deliver(element) }

  /// Reads V1 to V3's `Documentation` as V4's terms `Description` and `LongDescription`.
  private func documentation(_ reading: CSDLReading) -> CSDLFrame {
    BracketFrame("Documentation") { element, _ in
      let term: String
      switch element.name {
      case "Summary": term = "Org.OData.Core.V1.Description"
      case "LongDescription": term = "Org.OData.Core.V1.LongDescription"
      default: return nil
      }
      return TextFrame(element.name) { text in
        let value = EdmExpression.constant(.string, text.trimmed)
        self.element.annotations.append(EdmAnnotation(term: term, expression: value))
      }
    }
  }
}
