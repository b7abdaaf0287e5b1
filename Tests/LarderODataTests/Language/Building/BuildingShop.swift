import LarderOData

/// A small shop, as its users would describe it.
struct BuildingProduct: ODataDescribed {
  static let odataTypeName = "Shop.Product"

  struct Fields: ODataFields {
    let id = Field<Int32>("ID")
    let name = Field<String>("Name")
    let price = Field<ODataDecimal>("Price")
    let cost = Field<ODataDecimal>("Cost")
    let weight = Field<Double>("Weight")
    let stock = Field<Int32>("Stock")
    let isActive = Field<Bool>("Active")
    let color = Field<BuildingColor>("Color")
    let guid = Field<ODataGuid>("Guid")
    let created = Field<ODataDateTimeOffset>("Created")
    let changed = Field<ODataDateTime>("Changed")
    let day = Field<ODataDate>("Day")
    let lead = Field<ODataDuration>("Lead")
    let place = Field<ODataGeo>("Place")
    let x = Field<Int32>("x")
    let tags = CollectionField<String>("Tags")
    let address = ComplexField<BuildingAddress>("Address")
    let addresses = ComplexCollection<BuildingAddress>("Addresses")
    let category = Navigation<BuildingCategory>("Category")
    let reviews = NavigationCollection<BuildingReview>("Reviews")
  }
}

struct BuildingCategory: ODataDescribed {
  static let odataTypeName = "Shop.Category"

  class Fields: ODataFields {
    required init() {}
    let name = Field<String>("Name")
    let products = NavigationCollection<BuildingProduct>("Products")
    let parent = Navigation<BuildingCategory>("Parent")
  }
}

struct BuildingSeasonCategory: ODataDescribed {
  static let odataTypeName = "Shop.SeasonCategory"

  final class Fields: BuildingCategory.Fields {
    let season = Field<String>("Season")
  }
}

struct BuildingReview: ODataDescribed {
  static let odataTypeName = "Shop.Review"

  struct Fields: ODataFields {
    let stars = Field<Int32>("Stars")
    let words = CollectionField<String>("Words")
    let product = Navigation<BuildingProduct>("Product")
  }
}

struct BuildingAddress: ODataDescribed {
  static let odataTypeName = "Shop.Address"

  struct Fields: ODataFields {
    let city = Field<String>("City")
    let country = Navigation<BuildingCategory>("Country")
  }
}

enum BuildingColor: String, ODataEnumeration {
  case red = "Red"
  case yellow = "Yellow"
  static let odataTypeName = "Shop.Color"
}
