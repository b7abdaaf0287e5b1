import LarderOData

/// The restrictions of changes in a model's Capabilities annotations: `InsertRestrictions`, `UpdateRestrictions` and
/// `DeleteRestrictions` of an entity set, a singleton or a navigation property, or inside `NavigationRestrictions`.
struct Restrictions: Sendable {
  static let vocabulary = "Org.OData.Capabilities.V1."

  var insertRestriction: String?
  private(set) var updateRestriction: String?
  private(set) var deleteRestriction: String?
  private(set) var replaceRestriction: String?
  private(set) var patchRestriction: String?
  private(set) var notInsertable: ChangeRules.Reasons = [:]
  private(set) var notUpdatable: ChangeRules.Reasons = [:]
  private(set) var required: ChangeRules.Reasons = [:]
  private(set) var notInsertableLinks: ChangeRules.Reasons = [:]
  private(set) var notUpdatableLinks: ChangeRules.Reasons = [:]
  private(set) var notDeletableLinks: ChangeRules.Reasons = [:]

  init() {}

  /// The restrictions that are annotated on an element.
  init(of target: String, _ model: EdmModel) {
    func members(_ term: String) -> [EdmPropertyValue]? {
      model.annotation(Self.vocabulary + term, target: target)?.expression?.members
    }
    read(
      members("InsertRestrictions"), members("UpdateRestrictions"), members("DeleteRestrictions"), in: "Capabilities")
  }

  /// The restrictions of one navigation property in `NavigationRestrictions`.
  init(_ members: [EdmPropertyValue], in place: String) {
    read(
      members.record("InsertRestrictions"), members.record("UpdateRestrictions"), members.record("DeleteRestrictions"),
      in: place)
  }

  private mutating func read(
    _ insert: [EdmPropertyValue]?, _ update: [EdmPropertyValue]?, _ delete: [EdmPropertyValue]?, in place: String
  ) {
    let separator = place == "Capabilities" ? "." : "/"
    if let insert {
      let term = "\(place)\(separator)InsertRestrictions"
      if insert.flag("Insertable") == false { insertRestriction = "\(term)/Insertable" }
      notInsertable = reasons(insert, "NonInsertableProperties", term)
      notInsertableLinks = reasons(insert, "NonInsertableNavigationProperties", term)
      required = reasons(insert, "RequiredProperties", term)
    }
    if let update {
      let term = "\(place)\(separator)UpdateRestrictions"
      if update.flag("Updatable") == false { updateRestriction = "\(term)/Updatable" }
      notUpdatable = reasons(update, "NonUpdatableProperties", term)
      notUpdatableLinks = reasons(update, "NonUpdatableNavigationProperties", term)
      if let methods = update.members("UpdateMethod"), !methods.isEmpty {
        if !methods.contains("PUT") { replaceRestriction = "\(term)/UpdateMethod" }
        if !methods.contains("PATCH") { patchRestriction = "\(term)/UpdateMethod" }
      }
    }
    if let delete {
      let term = "\(place)\(separator)DeleteRestrictions"
      if delete.flag("Deletable") == false { deleteRestriction = "\(term)/Deletable" }
      notDeletableLinks = reasons(delete, "NonDeletableNavigationProperties", term)
    }
  }

  private func reasons(_ members: [EdmPropertyValue], _ name: String, _ term: String) -> ChangeRules.Reasons {
    Dictionary(members.paths(name).map { ($0, "\(term)/\(name)") }, uniquingKeysWith: { first, _ in first })
  }
}

extension EdmExpression {
  /// The members of a record.
  var members: [EdmPropertyValue]? {
    switch self {
    case .record(_, let members): members
    case .annotated(let inner, _): inner.members
    default: nil
    }
  }

  fileprivate var text: String? {
    switch self {
    case .path(_, let path): path
    case .constant(_, let text): text
    case .annotated(let inner, _): inner.text
    default: nil
    }
  }
}

extension [EdmPropertyValue] {
  private func value(_ name: String) -> EdmExpression? { first { $0.property == name }?.value }

  fileprivate func flag(_ name: String) -> Bool? {
    guard case .constant(_, let text)? = value(name) else { return nil }
    return text == "true"
  }

  fileprivate func paths(_ name: String) -> [String] {
    guard case .collection(let items)? = value(name) else { return [] }
    return items.compactMap(\.text)
  }

  func path(_ name: String) -> String? { value(name)?.text }

  fileprivate func record(_ name: String) -> [EdmPropertyValue]? { value(name)?.members }

  func records(_ name: String) -> [[EdmPropertyValue]] {
    guard case .collection(let items)? = value(name) else { return [] }
    return items.compactMap(\.members)
  }

  /// The names of an enumeration's members, without the name of the type.
  fileprivate func members(_ name: String) -> [String]? {
    guard case .constant(_, let text)? = value(name) else { return nil }
    return text.split(whereSeparator: { $0 == " " || $0 == "," }).compactMap {
      $0.split(separator: "/").last.map(String.init)
    }
  }
}
