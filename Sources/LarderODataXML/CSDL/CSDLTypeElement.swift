internal import LarderOData

/// A type that is written as an element, with the facets that the element carries: V2's and V3's `TypeRef`,
/// `CollectionType` and `ReferenceType`. The facets of a collection apply to its items, as with V4's `Collection(…)`
/// (CSDL XML 4.01 §7.2).
struct CSDLTypeElement {
  private var type: EdmTypeReference
  private var facets: EdmFacets
  private var nullable: Bool?

  /// Returns the frame of such an element; nil for any other element.
  static func frame(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (CSDLTypeElement) -> Void
  ) -> CSDLFrame? {
    let isCollection = element.name == "CollectionType"
    guard isCollection || element.name == "TypeRef" || element.name == "ReferenceType" else { return nil }
    let type = element.takeType(isCollection ? "ElementType" : "Type")
    var parsed = CSDLTypeElement(
      type: type ?? .abstract(.untyped), facets: element.takeFacets(reading),
      nullable: element.takeBool("Nullable", reading))
    _ = element.rest(reading)
    guard isCollection else {
      if type != nil { deliver(parsed) }
      return BracketFrame(element.name)
    }
    parsed.type = .collection(parsed.type.item)
    if type != nil { deliver(parsed) }
    return BracketFrame("CollectionType") { element, reading in
      frame(&element, reading) { inner in
        let facets = inner.facets.completed(by: parsed.facets)
        deliver(
          CSDLTypeElement(
            type: .collection(inner.type.item), facets: facets, nullable: inner.nullable ?? parsed.nullable))
      }
    }
  }

  /// Sets the target's type. A facet of the target is kept if the element does not set it.
  func apply(to target: inout some CSDLTyped) {
    target.type = type
    target.facets = facets.completed(by: target.facets)
    target.nullable = nullable ?? target.nullable
  }
}

/// A declaration that has a type with facets.
protocol CSDLTyped {
  var type: EdmTypeReference { get set }
  var facets: EdmFacets { get set }
  var nullable: Bool? { get set }
}

extension EdmProperty: CSDLTyped {}
extension EdmParameter: CSDLTyped {}
extension EdmReturnType: CSDLTyped {}

extension EdmFacets {
  /// Returns these facets, completed by those of `other`.
  fileprivate func completed(by other: EdmFacets) -> EdmFacets {
    var all = self
    all.maxLength = maxLength ?? other.maxLength
    all.precision = precision ?? other.precision
    all.scale = scale ?? other.scale
    all.isUnicode = isUnicode ?? other.isUnicode
    all.srid = srid ?? other.srid
    all.isFixedLength = isFixedLength ?? other.isFixedLength
    all.collation = collation ?? other.collation
    return all
  }
}
