internal import LarderOData

/// An open element of an Atom document. ``AtomReading`` keeps the open elements in a stack.
class AtomFrame {
  let name: String
  /// The base of relative URLs in the element: the nearest `xml:base`.
  let base: String?

  init(_ element: XMLElement, base: String?) {
    name = element.name.qualified
    let relativeBase = element.attribute("base", namespace: AtomNamespace.xml)
    self.base = relativeBase.map { AtomBase.resolve($0, against: base) } ?? base
  }

  var wantsText: Bool { false }

  /// Returns the frame of a child element.
  func child(_ element: XMLElement, _ reading: AtomReading) throws -> AtomFrame {
    SkippedAtomFrame(element, base: base)
  }
  func text(_ text: String) {}
  func end(_ reading: AtomReading) throws {}

  func resolve(_ url: String) -> String { AtomBase.resolve(url, against: base) }
}

/// An element without meaning in its place; its content is ignored too.
final class SkippedAtomFrame: AtomFrame {}

/// An element that contains text.
final class TextAtomFrame: AtomFrame {
  private var content = ""
  private let deliver: (String) throws -> Void

  init(_ element: XMLElement, base: String?, deliver: @escaping (String) throws -> Void) {
    self.deliver = deliver
    super.init(element, base: base)
  }

  override var wantsText: Bool { true }
  override func text(_ text: String) { content += text }
  /// Markup inside text (`type="xhtml"`): only its text is read.
  override func child(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    TextAtomFrame(element, base: base) { self.content += $0 }
  }
  override func end(_ reading: AtomReading) throws { try deliver(content) }
}

/// An element that only groups others.
final class BracketAtomFrame: AtomFrame {
  private let grammar: (XMLElement, BracketAtomFrame, AtomReading) throws -> AtomFrame?
  private let finish: () throws -> Void

  init(
    _ element: XMLElement, base: String?, finish: @escaping () throws -> Void = {},
    _ grammar: @escaping (XMLElement, BracketAtomFrame, AtomReading) throws -> AtomFrame?
  ) {
    self.grammar = grammar
    self.finish = finish
    super.init(element, base: base)
  }

  override func child(_ element: XMLElement, _ reading: AtomReading) throws -> AtomFrame {
    try grammar(element, self, reading) ?? SkippedAtomFrame(element, base: base)
  }

  override func end(_ reading: AtomReading) throws { try finish() }
}
