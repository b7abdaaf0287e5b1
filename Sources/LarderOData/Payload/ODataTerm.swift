/// The term of an annotation in a payload, taken apart.
package struct ODataTerm: Sendable, Hashable {
  /// The member that the annotation is on, if the payload does not contain that member; nil otherwise.
  package let target: String?
  /// The term itself; `odata.` and a name for control information.
  package let name: String

  /// Takes a term apart: `my.term`, `odata.count`, `Customer@odata.bind`.
  package init(_ term: String) {
    guard let at = term.firstIndex(of: "@") else {
      (target, name) = (nil, term)
      return
    }
    target = at == term.startIndex ? nil : String(term[..<at])
    name = String(term[term.index(after: at)...])
  }

  /// Whether it is control information and not an instance annotation.
  package var isControl: Bool { name.hasPrefix("odata.") || name.hasPrefix("__") }
}
