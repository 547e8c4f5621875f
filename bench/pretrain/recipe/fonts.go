package recipe

// A Font is one file of a family in a package of the npm registry, all under the SIL Open
// Font License 1.1.
type Font struct {
	Package, Version string // pinned
	File             string // in the package
	SHA256           string // of the file, in hexadecimal digits
	// HeldOut fonts are never trained on. They show how well the features do on a hand that
	// they have not seen.
	HeldOut bool
}

// scope is the npm scope of all packages.
const scope = "@expo-google-fonts/"

// Fonts are the fonts of the recipe, in the order of their faces.
var Fonts = []Font{
	{Package: "annie-use-your-telescope", Version: "0.4.0", File: "400Regular/AnnieUseYourTelescope_400Regular.ttf", SHA256: "f390e6494169d51ede086829fe05f32911a96872363c8271f256ba0ba2150173"},
	{Package: "architects-daughter", Version: "0.4.1", File: "400Regular/ArchitectsDaughter_400Regular.ttf", SHA256: "7e7ae3e7f37f4a56362e3dc486acf968a1023d954994901f960b0e53de3fa883"},
	{Package: "caveat", Version: "0.4.2", File: "400Regular/Caveat_400Regular.ttf", SHA256: "271ee7c4a60b1be2ba13a66990e7475c76c982ac6e906c9db25139976282f6b8"},
	{Package: "covered-by-your-grace", Version: "0.4.1", File: "400Regular/CoveredByYourGrace_400Regular.ttf", SHA256: "67ee4693d8b49edab0c81c8a4effc7ee6ac422a2a31fef361715ed6df3df26fc"},
	{Package: "delius", Version: "0.4.1", File: "400Regular/Delius_400Regular.ttf", SHA256: "f68d1021b7a7df0f7bb0f9980e04b41ff0e75e1ed00a61ebb384f1df4a147261"},
	{Package: "gloria-hallelujah", Version: "0.4.1", File: "400Regular/GloriaHallelujah_400Regular.ttf", SHA256: "4206cbda828ccde275f6d8b406ad80a29d2f5d9bc1a39a86e56a1c9c7691ed8c"},
	{Package: "gochi-hand", Version: "0.4.2", File: "400Regular/GochiHand_400Regular.ttf", SHA256: "57e17aabd8bfa36f9ce790f26a64176abd01f89df2fac8263aa50003daaf81b5"},
	{Package: "indie-flower", Version: "0.4.1", File: "400Regular/IndieFlower_400Regular.ttf", SHA256: "e6a139213baa54b2ff51d300f98cc1c16d690b5046a4b0e42435cbf791767853"},
	{Package: "mali", Version: "0.4.1", File: "400Regular/Mali_400Regular.ttf", SHA256: "447cddd48d4d082bc32c4402d89360c499b24bf6d1a628f07c77d184d3c9064b"},
	{Package: "nanum-pen-script", Version: "0.4.0", File: "400Regular/NanumPenScript_400Regular.ttf", SHA256: "a0bc8ec50075e11496defe34eb9036d56907d44f880b80b2032ac0dbff140e88"},
	{Package: "neucha", Version: "0.4.1", File: "400Regular/Neucha_400Regular.ttf", SHA256: "6b04fa67b591d1570644135638612c0eb23c728efad92690d98b9cf25c39eb71"},
	{Package: "nothing-you-could-do", Version: "0.4.1", File: "400Regular/NothingYouCouldDo_400Regular.ttf", SHA256: "d866f985896d3280f4fce72db7e17302c24a0c1fdb0699b6b5ed3af14f944d57"},
	{Package: "patrick-hand", Version: "0.4.1", File: "400Regular/PatrickHand_400Regular.ttf", SHA256: "496937dafcb18bf2c2f624ed02c8f7f4d47bd1e4e6e5646c42b6cfd873c6b13c"},
	{Package: "reenie-beanie", Version: "0.4.1", File: "400Regular/ReenieBeanie_400Regular.ttf", SHA256: "f3b0fc248a510101281bfc2f81815b9758ff9bcc7400c42827791a8d36d14698"},
	{Package: "shadows-into-light", Version: "0.4.1", File: "400Regular/ShadowsIntoLight_400Regular.ttf", SHA256: "2d697208b133a900ab1f5607e437d039b19a0f956fc3d998760cabb3c11ad3b0"},
	{Package: "sue-ellen-francisco", Version: "0.4.1", File: "400Regular/SueEllenFrancisco_400Regular.ttf", SHA256: "590931b228c2885c8a124ab27e16ef2e8d0887900ef0d156bae1392944025625"},
	{Package: "the-girl-next-door", Version: "0.4.1", File: "400Regular/TheGirlNextDoor_400Regular.ttf", SHA256: "3089d747bc5e812f84a54674821dc405d1b7d5977259f1e0d71d1a0509dd6d15"},
	{Package: "gaegu", Version: "0.4.1", File: "400Regular/Gaegu_400Regular.ttf", SHA256: "9de068b26e04a0b4b0dd8e79ff8ad26907306ff602b7169fc2dda2e4b1fb885b", HeldOut: true},
	{Package: "kalam", Version: "0.4.1", File: "400Regular/Kalam_400Regular.ttf", SHA256: "c2a5822e35bd9826735baf8cea549534fd300c979129299d327a155ed9ef667f", HeldOut: true},
	{Package: "short-stack", Version: "0.4.1", File: "400Regular/ShortStack_400Regular.ttf", SHA256: "e784abf10db68a62bbb1ccca3e20c7fb35391cc1e9971c878095eedaebc9915b", HeldOut: true},
}

// Unseen are fonts of other families, which no network was trained on, and on which no constant was found and no setting chosen: what
// is measured on them is as new to the module as other people's hands. They are under the same license.
var Unseen = []Font{
	{Package: "grape-nuts", Version: "0.4.2", File: "400Regular/GrapeNuts_400Regular.ttf", SHA256: "e1ba743618029708364d6ed75a2a1644739113d9024b730493fd6d3e5f8bb9ea"},
	{Package: "pangolin", Version: "0.4.1", File: "400Regular/Pangolin_400Regular.ttf", SHA256: "a48db64eadc589c2e9f14a4ba79eed82a438c7f620f929dd19e352c20b2a922e"},
	{Package: "sedgwick-ave", Version: "0.4.1", File: "400Regular/SedgwickAve_400Regular.ttf", SHA256: "e4dfddad93d2f48f10e56c2144efb91eb2b28365426528bc5a0e6bf1ac644f7f"},
	{Package: "sriracha", Version: "0.4.1", File: "400Regular/Sriracha_400Regular.ttf", SHA256: "10224a278f0fc770ba3efc57537b45a2eccc755d0eddb0c112af478414b8d3f5"},
}
