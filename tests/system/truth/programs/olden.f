C     Fixed form: COMMON blocks, labels, continued lines, READ, WRITE, RANDOM_NUMBER, statement functions.
      PROGRAM OLDEN
      INTEGER N, NKINDS
      PARAMETER (N = 4096, NKINDS = 7)
      DOUBLE PRECISION WAVE, DUST, STAR, SHOWN
      COMMON /SKY/ WAVE(N), DUST(N), STAR(N)
      COMMON SHOWN(200)
      DOUBLE PRECISION SIZED(N), LOADED(200), DRAWN(N), MS(NKINDS),
     1  BEGUN, ENDED
      CHARACTER*8 NAMES(NKINDS)
      INTEGER I, J, K, TIMES
      DATA NAMES /'wave', 'dust', 'sized', 'star', 'drawn', 'shown',
     1            'loaded'/
      OPEN (10, STATUS='SCRATCH')
      DO 5 I = 1, N
      WAVE(I) = 1
      DUST(I) = 1
      STAR(I) = 1
      DRAWN(I) = 1
    5 SIZED(I) = 1
      DO 6 I = 1, 200
      LOADED(I) = 1
    6 SHOWN(I) = 1
      DO 30 I = 1, NKINDS
      TIMES = 20
      MS(I) = 0
      DO 20 J = 1, 2
      CALL CPU_TIME(BEGUN)
      GOTO (11, 12, 13, 14, 15, 16, 17), I
   11 CALL WAVES(TIMES)
      GOTO 19
   12 CALL DUSTS(TIMES)
      GOTO 19
   13 CALL SIZES(SIZED, N, TIMES)
      GOTO 19
   14 CALL STARS(TIMES)
      GOTO 19
   15 CALL DRAWS(DRAWN, N, TIMES)
      GOTO 19
   16 CALL SHOWS(TIMES)
      GOTO 19
   17 CALL LOADS(LOADED, TIMES)
   19 CALL CPU_TIME(ENDED)
      MS(I) = MS(I) + (ENDED - BEGUN)
      TIMES = MAX(1, INT(0.1D0 * TIMES / MAX(MS(I), 1D-6)))
   20 CONTINUE
   30 CONTINUE
      DO 40 I = 1, NKINDS
      ENDED = 0
      DO 39 K = 1, NKINDS
   39 ENDED = ENDED + MS(K)
      WRITE (0, 100) TRIM(NAMES(I)), 100 * MS(I) / ENDED
   40 CONTINUE
  100 FORMAT (' truth ', A, ' = ', F8.4)
      IF (MS(1) .LT. 0) PRINT *, WAVE(7), DUST(7), STAR(7), SIZED(7),
     1  DRAWN(7), LOADED(7)
      END

      SUBROUTINE WAVES(TIMES)
      INTEGER N, TIMES, I, K
      PARAMETER (N = 4096)
      DOUBLE PRECISION WAVE, DUST, STAR
      COMMON /SKY/ WAVE(N), DUST(N), STAR(N)
      DO 10 K = 1, TIMES
      DO 10 I = 2, N
   10 WAVE(I) = WAVE(I - 1)
     1  * 0.5D0
     2  + K
      END

      SUBROUTINE DUSTS(TIMES)
      INTEGER N, TIMES, I, K
      PARAMETER (N = 4096)
      DOUBLE PRECISION WAVE, DUST, STAR, HALF, X
      COMMON /SKY/ WAVE(N), DUST(N), STAR(N)
      HALF(X) = X * 0.5D0
      DO 20 K = 1, TIMES
        DO 10 I = 2, N
          DUST(I) = HALF(DUST(I - 1)) + K
   10   CONTINUE
   20 CONTINUE
      END

      SUBROUTINE SIZES(A, M, TIMES)
      INTEGER M, TIMES, I, K
      DOUBLE PRECISION A(*)
      DO K = 1, TIMES
        DO I = 2, M
          A(I) = A(I - 1) * 0.5D0 + K
        END DO
      END DO
      END

C     Another name for what the block has there.
      SUBROUTINE STARS(TIMES)
      INTEGER N, TIMES, I, K
      PARAMETER (N = 4096)
      DOUBLE PRECISION OTHER, STAR
      COMMON /SKY/ OTHER(2 * N), STAR(N)
      K = 1
   10 IF (K .GT. TIMES) GOTO 30
      I = 2
   20 STAR(I) = STAR(I - 1) * 0.5D0 + K
      I = I + 1
      IF (I .LE. N) GOTO 20
      K = K + 1
      GOTO 10
   30 CONTINUE
      END

      SUBROUTINE DRAWS(A, M, TIMES)
      INTEGER M, TIMES, K
      DOUBLE PRECISION A(M)
      DO 10 K = 1, TIMES
   10 CALL RANDOM_NUMBER(A)
      END

      SUBROUTINE SHOWS(TIMES)
      INTEGER TIMES, I, K
      DOUBLE PRECISION SHOWN
      COMMON SHOWN(200)
      DO 10 K = 1, TIMES
      REWIND 10
   10 WRITE (10, 100) (SHOWN(I), I = 1, 200)
  100 FORMAT (8F9.3)
      END

      SUBROUTINE LOADS(A, TIMES)
      INTEGER TIMES, K
      DOUBLE PRECISION A(200)
      DO 10 K = 1, TIMES
      REWIND 10
      READ (10, *) A
   10 CONTINUE
      END
