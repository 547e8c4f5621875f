#include "textflag.h"

// FOUR adds the weights of four coordinates, which load reads, to Y5: their absolute values times
// perUnit, at most unit, without what is behind the point. To an integer below 2^53 it adds 2^52,
// whose lowest bits are then that integer. Y4 becomes NaN where a coordinate is NaN or Inf.
#define FOUR(load, from) \
	load from, Y6; \
	VSUBPD Y6, Y6, Y7; \
	VORPD Y7, Y4, Y4; \
	VANDPD Y2, Y6, Y6; \
	VMULPD Y0, Y6, Y6; \
	VMINPD Y1, Y6, Y6; \
	VROUNDPD $3, Y6, Y6; \
	VADDPD Y3, Y6, Y6; \
	VPADDQ Y6, Y5, Y5

// BLOCKS is the body of both functions. size is the size of a coordinate in bytes.
#define BLOCKS(load, size) \
	MOVQ blocks+0(FP), DI; \
	MOVQ grad+8(FP), SI; \
	MOVQ n+16(FP), CX; \
	VBROADCASTSD perUnit+24(FP), Y0; \
	VBROADCASTSD unit+32(FP), Y1; \
	VPCMPEQD Y2, Y2, Y2; \
	VPSRLQ $1, Y2, Y2; \
	MOVQ $0x4330000000000000, AX; \
	MOVQ AX, X3; \
	VPBROADCASTQ X3, Y3; \
	SHLQ $4, AX; \
	MOVQ AX, DX; \
	VPXOR Y4, Y4, Y4; \
block: \
	VPXOR Y5, Y5, Y5; \
	FOUR(load, 0(SI)); \
	FOUR(load, (4*size)(SI)); \
	FOUR(load, (8*size)(SI)); \
	FOUR(load, (12*size)(SI)); \
	VEXTRACTI128 $1, Y5, X6; \
	VPADDQ X6, X5, X5; \
	VPSRLDQ $8, X5, X6; \
	VPADDQ X6, X5, X5; \
	VMOVQ X5, AX; \
	SUBQ DX, AX; \
	MOVQ AX, (DI); \
	ADDQ $8, DI; \
	ADDQ $(16*size), SI; \
	DECQ CX; \
	JNZ block; \
	VCMPPD $3, Y4, Y4, Y4; \
	VMOVMSKPD Y4, AX; \
	VZEROUPPER; \
	TESTL AX, AX; \
	SETEQ ret+40(FP); \
	RET

// func weighFloat64(blocks *uint64, grad *float64, n int, perUnit, unit float64) bool
TEXT ·weighFloat64(SB), NOSPLIT, $0-41
	BLOCKS(VMOVUPD, 8)

// func weighFloat32(blocks *uint64, grad *float32, n int, perUnit, unit float64) bool
TEXT ·weighFloat32(SB), NOSPLIT, $0-41
	BLOCKS(VCVTPS2PD, 4)
