internal import LarderOData

// `Core.Revisions` of the kind `Deprecated`.
extension ModelAnnotations {
  /// The advice not to use an element, which may be empty; nil if it is not deprecated.
  func deprecation(of target: String) -> String? {
    deprecation(in: model.annotation(ModelAnnotations.revisions, target: target))
  }

  /// The advice not to use an operation. Its overloads have one name, so only what is inside the element is its own.
  func deprecation(of element: some EdmAnnotatable) -> String? {
    deprecation(in: element.annotation(ModelAnnotations.revisions))
  }

  private static let revisions = "Org.OData.Core.V1.Revisions"

  private func deprecation(in annotation: EdmAnnotation?) -> String? {
    let revisions = annotation?.value?.items ?? []
    return revisions.last { $0["Kind"]?.text?.split(separator: "/").last == "Deprecated" }
      .map { $0["Description"]?.string ?? "" }
  }
}
