/// A value that has query options: an expanded or selected property, or a query.
public protocol ODataOptionHolder {
  /// The type whose properties the options name.
  associatedtype Entity: ODataDescribed
  /// The options so far.
  var options: ODataQueryOptions { get set }
}

/// A value with options for collections of entities or values, such as `$filter`.
public protocol ODataCollectionOptions: ODataOptionHolder {}

/// A value with `$select`.
public protocol ODataSelectOption: ODataOptionHolder {}

/// A value with `$expand`.
public protocol ODataExpandOption: ODataOptionHolder {}

/// A value with options for entities, such as `$select` and `$expand`.
public protocol ODataEntityOptions: ODataSelectOption, ODataExpandOption {}

extension ODataOptionHolder {
  func with(_ change: (inout ODataQueryOptions) -> Void) -> Self {
    var copy = self
    change(&copy.options)
    return copy
  }
}

extension ODataCollectionOptions {
  /// `$filter`; a second one is joined to the first by `and`.
  public func filter(_ condition: (ODataInstance<Entity>) -> ODataOperand<Bool>) -> Self {
    filter(ODataFilter<Entity>(condition))
  }

  /// `$filter`; a second one is joined to the first by `and`.
  public func filter(_ filter: ODataFilter<Entity>) -> Self {
    with { $0.filter = $0.filter.map { .all([$0, filter.built]) } ?? filter.built }
  }

  /// `$orderby`; the items of a second call follow those of the first.
  public func orderBy(@ODataOrderByBuilder _ items: (ODataOrdering<Entity>) -> [ODataOrderByItem]) -> Self {
    orderBy(ODataOrderBy<Entity>(items))
  }

  /// `$orderby`; the items of a second call follow those of the first.
  public func orderBy(_ order: ODataOrderBy<Entity>) -> Self { with { $0.orderBy += order.built } }

  /// `$orderby` one property; the items of a second call follow those of the first.
  public func orderBy<Member: ODataMember, Value: ODataPrimitive>(
    _ property: KeyPath<Entity.Fields, Member>, descending: Bool = false
  ) -> Self where Member.Ordering == ODataOperand<Value> {
    orderBy { descending ? $0[dynamicMember: property].descending : $0[dynamicMember: property].ascending }
  }

  /// `$search` for one word or phrase. It is not possible to search for a double quote.
  public func search(_ text: String) -> Self { search(ODataSearchExpression(text: text)) }

  /// `$search`
  public func search(_ search: ODataSearchExpression) -> Self { with { $0.search = search } }

  /// `$skip`
  public func skip(_ number: Int) -> Self { with { $0.skip = number } }

  /// `$top`
  public func top(_ number: Int) -> Self { with { $0.top = number } }

  /// `$count=true`; in V2 `$inlinecount=allpages`.
  public func count(_ isWanted: Bool = true) -> Self { with { $0.count = isWanted } }
}

extension ODataSelectOption {
  /// `$select`; a second one adds to the first.
  public func select(@ODataSelectBuilder _ items: (ODataSelection<Entity>) -> [ODataSelectItem]) -> Self {
    select(ODataSelect<Entity>(items))
  }

  /// `$select`; a second one adds to the first.
  public func select(_ selection: ODataSelect<Entity>) -> Self { with { $0.select += selection.built } }

  /// `$compute`: adds a property with the given name (4.01). Expressions refer to it by `$0["name"]`.
  public func compute<Value: ODataPrimitive>(
    _ name: String, _ value: (ODataInstance<Entity>) -> ODataOperand<Value>
  ) -> Self {
    let expression = LambdaNaming.naming(value(ODataInstance(path: .instance)).expression)
    return with { $0.compute.append(ODataComputeItem(expression, as: name)) }
  }
}

extension ODataExpandOption {
  /// `$expand`; a second one adds to the first.
  public func expand(@ODataExpandBuilder _ items: (ODataExpansion<Entity>) -> [ODataExpandItem]) -> Self {
    expand(ODataExpand<Entity>(items))
  }

  /// `$expand`; a second one adds to the first.
  public func expand(_ expansion: ODataExpand<Entity>) -> Self { with { $0.expand += expansion.built } }

  /// `$expand` of one navigation property to several entities, with options of its own.
  public func expand<Related: ODataDescribed>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related, ODataAllowed>>,
    _ options: (ODataExpandedCollection<Related>) -> ODataExpandedCollection<Related> = { $0 }
  ) -> Self { expand { options($0[dynamicMember: property]) } }

  /// `$expand` of one navigation property to one entity, with options of its own.
  public func expand<Related: ODataDescribed>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related, ODataAllowed>>,
    _ options: (ODataExpandedEntity<Related>) -> ODataExpandedEntity<Related> = { $0 }
  ) -> Self { expand { options($0[dynamicMember: property]) } }
}

extension ODataExpandedEntity {
  /// `$levels`: expands a navigation property to the same type recursively, to the given depth.
  public func levels(_ levels: ODataLevels) -> Self { with { $0.levels = levels } }
}

extension ODataExpandedCollection {
  /// `$levels`: expands a navigation property to the same type recursively, to the given depth.
  public func levels(_ levels: ODataLevels) -> Self { with { $0.levels = levels } }
}

extension ODataSearchExpression {
  /// Searches for a text: a word if it is one, else a phrase.
  public init(text: String) {
    let isWord = text.utf8.allSatisfy { byte in
      byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte >= 0x80 || byte == UInt8(ascii: "-")
        || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
    self = isWord && !text.isEmpty && !["AND", "OR", "NOT"].contains(text) ? .word(text) : .phrase(text)
  }
}
