internal import LarderOData

// `Core.Revisions` of the kind `Deprecated`.
extension ModelAnnotations {
  /// The advice not to use an element, which may be empty; nil if it is not deprecated.
  func deprecation(of target: String) -> String? { deprecation(in: model.annotations(target: target)) }

  /// The advice in annotations not to use their element, which may be empty; nil if there is none.
  func deprecation(in annotations: [EdmAnnotation]) -> String? {
    annotations.lazy.filter { $0.term == "Org.OData.Core.V1.Revisions" && $0.qualifier == nil }.compactMap {
      annotation in
      annotation.value?.items?.last { $0["Kind"]?.text?.split(separator: "/").last == "Deprecated" }
        .map { $0["Description"]?.string ?? "" }
    }.first
  }
}
