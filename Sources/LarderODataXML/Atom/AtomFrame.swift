internal import LarderOData

/// An element of an Atom document that has begun and not ended. The reading keeps them in a stack.
class AtomFrame {
  let name: String
  /// What URLs inside are relative to: the nearest `xml:base`.
  let base: String?

  init(_ element: XMLElement, base: String?) {
    name = element.name.qualified
    let own = element.attribute("base", namespace: AtomNamespace.xml)
    self.base = own.map { AtomBase.resolve($0, against: base) } ?? base
  }

  var wantsText: Bool { false }

  /// The frame of a child.
  func child(_ element: XMLElement, _ reading: AtomReading) throws -> AtomFrame {
    SkippedAtomFrame(element, base: base)
  }
  func text(_ text: String) {}
  func end(_ reading: AtomReading) throws {}

  func resolve(_ url: String) -> String { AtomBase.resolve(url, against: base) }
}

/// An element that has no meaning here; its content neither.
final class SkippedAtomFrame: AtomFrame {}

/// An element of text.
final class TextAtomFrame: AtomFrame {
  private var content = ""
  private let deliver: (String) throws -> Void

  init(_ element: XMLElement, base: String?, deliver: @escaping (String) throws -> Void) {
    self.deliver = deliver
    super.init(element, base: base)
  }

  override var wantsText: Bool { true }
  override func text(_ text: String) { content += text }
  /// Markup inside text (`type="xhtml"`): its text counts.
  override func child(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    TextAtomFrame(element, base: base) { self.content += $0 }
  }
  override func end(_ reading: AtomReading) throws { try deliver(content) }
}

/// An element that is only a bracket around others.
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
